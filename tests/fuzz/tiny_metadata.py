"""XMP packets with regions in all the forms that are read, to fuzz with."""

SPACES = {
    'rdf': 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
    'ext': 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
    'mwg-rs': 'http://www.metadataworkinggroup.com/schemas/regions/',
    'stArea': 'http://ns.adobe.com/xmp/sType/Area#',
    'stDim': 'http://ns.adobe.com/xap/1.0/sType/Dimensions#',
    'MPReg': 'http://ns.microsoft.com/photo/1.2/t/Region#',
    'crs': 'http://ns.adobe.com/camera-raw-settings/1.0/',
}
AREA = {'X': '0.1', 'Y': '0.25', 'W': '0.5', 'H': '0.125'}


def element(name, inner, **attributes):
    written = ''.join(' %s="%s"' % (key.replace('_', ':'), value)
                      for key, value in attributes.items())
    return '<%s%s>%s</%s>' % (name, written, inner, name)


def listed(*items):
    return element('rdf:Bag', ''.join(element('rdf:li', item) for item in items))


def areas():
    """Of the Metadata Working Group, of Microsoft, IPTC and Camera Raw."""
    size = element('mwg-rs:AppliedToDimensions', '', stDim_w='640', stDim_h='480',
                   stDim_unit='pixel')
    for unit in 'normalized', 'pixel':
        fields = {key.lower(): value for key, value in AREA.items()}
        yield element('mwg-rs:Regions', size + listed(element(
            'mwg-rs:Area', '', stArea_unit=unit, **{
                'stArea_' + key: value for key, value in fields.items()})))
        yield element('mwg-rs:Regions', element('mwg-rs:Area', ''.join(
            element('stArea:' + key, value) for key, value in fields.items()) +
            element('stArea:unit', unit), rdf_parseType='Resource'))
    yield listed(element('MPReg:Rectangle', '0.1, 0.25, 0.5, 0.125'))
    yield element('ext:RegionBoundary', '', ext_rbX='0.1')
    yield element('crs:CropTop', '0.1') + element('crs:HasCrop', 'True')


def packets():
    spaces = {'xmlns_' + name: uri for name, uri in SPACES.items()}
    for inner in areas():
        yield element('x:xmpmeta', element('rdf:Description', inner, **spaces),
                      xmlns_x='adobe:ns:meta/').encode()
