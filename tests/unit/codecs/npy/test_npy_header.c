/* Headers of NPY arrays as programs write them are read, and malformed ones are
 * refused. */
#include "codecs/npy/header.h"

#include <string.h>

#include "tests/support/formats.h"
#include "tests/support/must.h"

/* Version 1 with this dictionary and 12 bytes of cells, 1 to 12. */
static struct bytes array(const char *dictionary)
{
    struct bytes file = { 0 };
    size_t size = strlen(dictionary);
    const uint8_t lead[4] = { 1, 0, size & 255, (uint8_t)(size >> 8) };
    must(bytes_append(&file, "\x93NUMPY", 6));
    must(bytes_append(&file, lead, 4));
    must(bytes_append(&file, dictionary, size));
    must(bytes_append(&file, "\1\2\3\4\5\6\7\10\11\12\13\14", 12));
    return file;
}

static const struct dictionary {
    const char *text;
    bool good;
    uint32_t width, height;
    unsigned nplanes;
    double second; /* the cell after the first */
} dictionaries[] = {
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }  \n", true,
      4, 3, 1, 2 },
    { "{'shape':(1,2,6),'fortran_order':False,'descr':'|u1'}", true, 6, 2, 1,
      2 },
    { "{'shape':(1,3,4),'fortran_order':False,'descr':'|u1'}", false, 0, 0, 0,
      0 },
    { "{\"descr\": \"<u2\", 'fortran_order': False, 'shape': (6, 1, 1)}\n",
      true, 1, 6, 1, 0x403 },
    { "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3)}", true, 3, 2,
      1, 0x304 },
    { "{'descr': '=u1', 'fortran_order': False, 'shape': (2, 6)}", true, 6, 2,
      1, 2 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (3L, 4L)}", true, 4, 3,
      1, 2 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (12, 1, 1)}", true, 1,
      12, 1, 2 },
    { "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 4)}", true, 4, 3, 1,
      4 },
    { "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}", false, 0, 0,
      0, 0 },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}", false, 0, 0,
      0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (12,)}", false, 0, 0,
      0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", false, 0, 0, 0,
      0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 2, 6)}", true,
      6, 2, 1, 2 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (6, 1, 2, 1)}", false,
      0, 0, 0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3)}", false, 0, 0,
      0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (65, 1, 1)}", false, 0,
      0, 0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4)} more", false,
      0, 0, 0, 0 },
    { "{'descr': '|u1' 'fortran_order': False 'shape': (3, 4)}", false, 0, 0, 0,
      0 },
    { "{'descr': '|u1', 'fortran_order': False}", false, 0, 0, 0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), 'x': 1}",
      false, 0, 0, 0, 0 },
    { "{'descr': '|u1', 'fortran_order': False, "
      "'shape': (18446744073709551619, 4)}",
      false, 0, 0, 0, 0 },
    { "{'descr': [('r', '|u1')], 'fortran_order': False, "
      "'shape': (3, 4)}",
      false, 0, 0, 0, 0 },
    { "", false, 0, 0, 0, 0 },
};

static void check_dictionary(const struct dictionary *d)
{
    struct bytes file = array(d->text);
    struct opened o = open_file(&codec_npy, file.data, file.size, STRICT);
    bool good = o.status == 0;
    CHECK(good == d->good, "%s: %s", d->text, o.err.text);
    CHECK(good || *o.err.text, "%s", d->text);
    CHECK(good || (!o.img.pixels.kind && !o.img.meta), "%s", d->text);
    if (good && d->good) {
        CHECK(o.img.width == d->width && o.img.height == d->height &&
                  o.img.nplanes == d->nplanes,
              "%s", d->text);
        CHECK(sample_at(&o.img, 0, o.img.width > 1, o.img.width == 1) ==
                  d->second,
              "%s", d->text);
    }
    close_file(&o);
    bytes_free(&file);
}

TEST(dictionaries)
{
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++)
        check_dictionary(&dictionaries[i]);
}

/* What NumPy 2 writes for np.save(f, np.array([[1, 2], [3, 4]], '>u2')). */
TEST(as_numpy)
{
    static const char dictionary[] =
        "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 2), }";
    uint8_t file[128 + 8] = "\x93NUMPY\1\0\x76\0";
    static const uint8_t cells[8] = { 0, 1, 0, 2, 0, 3, 0, 4 };
    memset(file + 10, ' ', 117);
    memcpy(file + 10, dictionary, sizeof dictionary - 1);
    file[127] = '\n';
    memcpy(file + 128, cells, 8);
    check_file(&codec_npy, file, sizeof file, 2, 2, 1, SAMPLES(1, 2, 3, 4),
               NULL);
    check_rewritten(&codec_npy, file, sizeof file, "", XFORM_NONE, file,
                    sizeof file);
}
