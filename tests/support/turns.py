"""Where the pixel x, y of a turned picture was in one of w x h, by turn, in the
order of the orientations 1 to 8 (EXIF 2.3, Orientation)."""
SOURCES = {
    'copy': lambda x, y, w, h: (x, y),
    'fliph': lambda x, y, w, h: (w - 1 - x, y),
    'rotate180': lambda x, y, w, h: (w - 1 - x, h - 1 - y),
    'flipv': lambda x, y, w, h: (x, h - 1 - y),
    'transpose': lambda x, y, w, h: (y, x),
    'rotate90': lambda x, y, w, h: (y, h - 1 - x),
    'transverse': lambda x, y, w, h: (w - 1 - y, h - 1 - x),
    'rotate270': lambda x, y, w, h: (w - 1 - y, x),
}
EXCHANGED = list(SOURCES)[4:]  # width and height
