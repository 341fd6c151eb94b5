/* A whole job: a command line, as "rotate90 --edge=trim in.jpg out.png", a
 * newline, and the bytes of the input. Whatever they are, the output is the old
 * file or the new one, nothing else is left, a failure has one line and its
 * status, and a picture is the input turned, as libpng and libjpeg decode both.
 *
 * The names are "in", "new" and "old" with any suffix; an old output exists
 * before. A picture without a command line is turned by one of our own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job/job.h"
#include "cli/json/json.h"
#include "cli/options/options.h"
#include "cli/report/report.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/png_crc.h"
#include "tests/support/fixture.h"
#include "tests/support/plain_jpeg.h"
#include "tests/support/plain_picture.h"

enum { LINE_MAX_SIZE = 400, WORDS_MAX = 24, THREADS_MAX = 3, NAME_SIZE = 96 };

static const char old[] = "what was there before";
static char place[64];

static void remove_place(void)
{
    rmdir(place);
}

/* ---- The command line --------------------------------------------------- */

struct job_input {
    char line[LINE_MAX_SIZE + 1];
    char *word[WORDS_MAX + 1];
    int words;
    char name[WORDS_MAX][NAME_SIZE]; /* of files, with their folder */
    struct bytes file;
    struct options opts;
};

static bool is_name(const char *word)
{
    static const char *const kinds[] = { "in", "new", "old" };
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(kinds[i]);
        if (strncmp(word, kinds[i], n) == 0 && (!word[n] || word[n] == '.'))
            return strlen(word) < 20 && !strchr(word, '/');
    }
    return false;
}

static void take_word(struct job_input *c, char *word)
{
    char *name = c->name[c->words];
    if (is_name(word)) {
        snprintf(name, NAME_SIZE, "%s/%s", place, word);
        word = name;
    }
    c->word[c->words++] = word;
}

/* Takes the input apart. Returns false if it has no command line. */
static bool read_line(struct job_input *c, struct bytes data)
{
    static char program[] = "gimgxf";
    const uint8_t *end = memchr(data.data, '\n', data.size);
    size_t size = end ? (size_t)(end - data.data) : 0;
    char *rest = c->line, *word;
    if (codec_probe(data)) {
        strcpy(c->line, "rotate90 in old.png");
        c->file = data;
    } else {
        if (size == 0 || size > LINE_MAX_SIZE || memchr(data.data, '\0', size))
            return false;
        memcpy(c->line, data.data, size);
        c->file =
            (struct bytes){ data.data + size + 1, data.size - size - 1, 0 };
    }
    c->word[c->words++] = program;
    while (c->words < WORDS_MAX && (word = strsep(&rest, " ")))
        if (*word)
            take_word(c, word);
    return true;
}

/* A file of ours: other names would be read and written, too. */
static bool is_ours(const char *name)
{
    const size_t n = strlen(place);
    return strncmp(name, place, n) == 0 && is_name(name + n + 1);
}

/* Returns whether it is a job of one picture, which is kept small and quick. */
static bool understand(struct job_input *c)
{
    struct options *opts = &c->opts;
    struct err err = { .text = "" };
    if (command_line_parse(opts, c->words, c->word, &err)) {
        must(*err.text);
        return false;
    }
    if (opts->command != COMMAND_TURN || opts->nfiles != 2 ||
        !is_ours(opts->file[0]) || !is_ours(opts->file[1]) || opts->backup)
        return false;
    if (opts->limits.pixels > 1 << 16)
        opts->limits.pixels = 1 << 16;
    if (opts->limits.bytes > 64 << 20)
        opts->limits.bytes = 64 << 20;
    if (opts->threads > THREADS_MAX)
        opts->threads = THREADS_MAX;
    opts->max_seconds = 0;
    return true;
}

/* ---- Files -------------------------------------------------------------- */

static void write_whole(const char *name, struct bytes bytes)
{
    FILE *file = fopen(name, "wb");
    must(file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    must(fclose(file) == 0);
}

static struct bytes read_whole(const char *name)
{
    struct bytes bytes = { 0 };
    uint8_t part[4096];
    FILE *file = fopen(name, "rb");
    must(file != NULL);
    for (size_t n; (n = fread(part, 1, sizeof part, file));)
        must(bytes_append(&bytes, part, n));
    must(fclose(file) == 0);
    return bytes;
}

static unsigned count_files(void)
{
    DIR *dir = opendir(place);
    unsigned count = 0;
    must(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

/* ---- What was said ------------------------------------------------------ */

/* What the program would print: standard error, then standard output. */
struct said {
    char *text[2];
    size_t size[2];
    FILE *file[2];
};

static void check_json(const struct said *said, int status)
{
    struct json_text json = { 0 };
    struct err err;
    const size_t size = said->size[1];
    const char *word;
    must(size > 0 &&
         memchr(said->text[1], '\n', size) == said->text[1] + size - 1);
    must(json_read(&json, said->text[1], size, &err) == 0);
    word = json_get_string(json_find(json_root(&json), "status"));
    must(word && (strcmp(word, "failed") == 0) == (status != 0));
    json_free(&json);
}

/* A failure is one line, beside warnings; nothing steers a terminal. */
static void check_lines(const struct said *said, int status)
{
    unsigned failures = 0;
    const char *line = said->text[0], *end;
    for (; *line; line = end + 1) {
        end = strchr(line, '\n');
        must(end && strncmp(line, "gimgxf: ", 8) == 0);
        for (const char *p = line; p < end; p++)
            must((uint8_t)*p >= 0x20 && *p != 0x7f);
        const char *warning = strstr(line, ": warning: ");
        failures += !warning || warning > end;
    }
    must(status == 0 || failures == 1);
}

static void check_said(const struct job *job, const struct result *result,
                       const struct err *err, int status)
{
    struct said said = { .size = { 0 } };
    FILE *const before[] = { stderr, stdout };
    for (int i = 0; i < 2; i++)
        must((said.file[i] = open_memstream(&said.text[i], &said.size[i])));
    stderr = said.file[0];
    stdout = said.file[1];
    report_job(job, result, status ? err : NULL, "as asked for");
    stderr = before[0];
    stdout = before[1];
    for (int i = 0; i < 2; i++)
        must(fclose(said.file[i]) == 0);
    if (job->opts->json)
        check_json(&said, status);
    check_lines(&said, status);
    for (int i = 0; i < 2; i++)
        free(said.text[i]);
}

/* ---- Whether the output is the input turned ------------------------------ */

/* By what libpng and libjpeg decode of both. */
enum { JUDGED_PIXELS = 1 << 16 };

/* Returns whether the file might say an orientation, be it in its head. */
static bool has_tags(const struct codec *codec, struct bytes file)
{
    static const char *const words[] = { "Exif",       "EXIF",        "eXIf",
                                         "rientation", "Raw profile", "zTXt",
                                         "iTXt",       "xpacket",     "adobe",
                                         "orNT" };
    if (codec == &codec_tga || codec == &codec_bmp || codec == &codec_hdr ||
        codec == codec_by_name("tiff"))
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (memmem(file.data, file.size, words[i], strlen(words[i])))
            return true;
    return false;
}

/* Both files are JPEG and not encoded anew: block for block. */
static void judge_blocks(const struct result *result, struct plain_jpeg *from,
                         struct plain_jpeg *to)
{
    const enum how how = result->how;
    const int all = from->d.num_components;
    must(to->sound);
    must(how == HOW_TRIMMED || plain_jpeg_fits(from, to, result->turned) ||
         how == HOW_LUMA_LOSSLESS);
    must(plain_jpeg_is_turned(from, to, how == HOW_LUMA_LOSSLESS ? 1 : all,
                              result->turned));
}

static void judge_jpeg(const struct result *result, struct bytes input,
                       struct bytes output)
{
    owned_plain_jpeg *from = plain_jpeg_read(input, JUDGED_PIXELS);
    owned_plain_jpeg *to = plain_jpeg_read(output, JUDGED_PIXELS);
    if (from->sound && result->how != HOW_REENCODED)
        judge_blocks(result, from, to);
    must(to->sound || !from->sound);
}

/* Sample for sample, where nothing may be lost. */
static void judge_samples(const struct options *opts,
                          const struct result *result, struct bytes input,
                          struct bytes output)
{
    const bool png = result->from == &codec_png && result->to == &codec_png;
    struct plain_picture from, to;
    plain_picture_read(&from, result->from->name, input, JUDGED_PIXELS);
    plain_picture_read(&to, result->to->name, output, JUDGED_PIXELS);
    if (from.sound && (result->to == &codec_png || result->to == &codec_jpeg))
        must(to.samples != NULL);
    if (from.sound && to.samples &&
        (result->how == HOW_LOSSLESS || result->how == HOW_TAGGED)) {
        must(plain_picture_is_turned(&from, &to, result->turned));
        must(!png || opts->depth || from.stored == to.stored);
    }
    plain_picture_free(&to);
    plain_picture_free(&from);
}

/* What was written says of itself that it is upright. */
static void judge_tag(const struct result *result, struct bytes output)
{
    struct warnings warnings = { 0 };
    struct load_opts load = { .limits = { .pixels = JUDGED_PIXELS,
                                          .bytes = 64 << 20 },
                              .mem = mem_plain,
                              .warnings = &warnings };
    struct stream_info info = { .width = 0 };
    struct err err;
    must(codec_look(result->to, &info, output, &load, &err) == 0);
    must(info.orientation.value <= 1 && !info.orientation.other);
}

/* The job has succeeded. Ends the program if its output is wrong. */
static void judge_job(const struct options *opts, const struct result *result,
                      struct bytes input, struct bytes output)
{
    const bool tagged = opts->tag_only || result->how == HOW_TAGGED ||
                        result->how == HOW_ORIENTED;
    must(output.size == result->bytes_out);
    if (result->how == HOW_UNCHANGED) {
        must(same_bytes(input, output));
        return;
    }
    if (tagged || opts->ignore_orientation || !has_tags(result->from, input))
        must(result->turned == (tagged ? XFORM_NONE : opts->op));
    if (!tagged && !opts->ignore_orientation && !opts->tolerant)
        judge_tag(result, output);
    if (opts->tolerant)
        return;
    if (result->from == &codec_jpeg && result->to == &codec_jpeg)
        judge_jpeg(result, input, output);
    else
        judge_samples(opts, result, input, output);
}

/* ---- The job ------------------------------------------------------------ */

static struct thread_pool *pool_of(unsigned threads)
{
    static struct thread_pool *pool[THREADS_MAX + 1];
    if (!pool[threads])
        must((pool[threads] = thread_pool_open(threads)));
    return pool[threads];
}

static struct lane *the_lane(void)
{
    static struct lane *lane;
    struct err err;
    const struct lane_opts opts = { .workers = 0 };
    if (!lane)
        must(backend_cpu.open(&lane, &opts, &err) == 0);
    return lane;
}

/* What is there afterwards, and that nothing else is. */
static void check_files(const struct job_input *c, const struct result *result,
                        int status, bool existed)
{
    const char *input = c->opts.file[0], *output = c->opts.file[1];
    const bool same = strcmp(input, output) == 0;
    const bool new = status == 0 && !result->skipped;
    const struct bytes before =
        same ? c->file
             : (struct bytes){ .data = (uint8_t *)old, .size = sizeof old };
    must(count_files() == 1u + (!same && (existed || new)));
    if (!same) {
        owned_bytes is = read_whole(input);
        must(same_bytes(is, c->file));
    }
    if (!new && !existed)
        return;
    owned_bytes is = read_whole(output);
    if (!new)
        must(same_bytes(is, before));
    else
        judge_job(&c->opts, result, c->file, is);
}

/* Whether a failure says that we are at fault. Coefficients that no encoder
 * makes overflow in libjpeg, in one way in its vector code and in another in C:
 * then what was encoded anew may be far from what it decodes for --verify. */
static bool is_fault(const struct result *result, const struct err *err)
{
    const bool lossy =
        result->how == HOW_REENCODED || result->how == HOW_LUMA_LOSSLESS;
    return strstr(err->text, "please report it") &&
           !(lossy && result->from == &codec_jpeg &&
             strstr(err->text, "dB apart"));
}

static void run(const struct job_input *c, bool existed)
{
    struct job job = { .input = c->opts.file[0],
                       .output = c->opts.file[1],
                       .opts = &c->opts,
                       .tools.backend = &backend_cpu,
                       .tools.lane = the_lane(),
                       .tools.pool = pool_of(c->opts.threads) };
    struct result result = { .how = HOW_UNCHANGED };
    struct err err = { .text = "" };
    if (job_choose_format(&job, &err) || job_check_output(&job, &err)) {
        must(*err.text);
        return;
    }
    if (c->opts.dry_run)
        return;
    int status = job_run(&job, &result, &err);
    must(status == 0 || (status == -1 && *err.text));
    must(status == 0 || !is_fault(&result, &err));
    check_said(&job, &result, &err, status);
    check_files(c, &result, status, existed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_input c = { .words = 0 };
    if (!*place) {
        /* A folder in memory, if there is one. */
        const char *root =
            access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";
        snprintf(place, sizeof place, "%s/fuzz-job-XXXXXX",
                 root ? root : "/tmp");
        must(mkdtemp(place) != NULL);
        atexit(remove_place);
    }
    if (!read_line(&c, (struct bytes){ (uint8_t *)(uintptr_t)data, size, 0 }) ||
        !understand(&c))
        return 0;
    const char *input = c.opts.file[0], *output = c.opts.file[1];
    bool existed = strncmp(strrchr(output, '/'), "/old", 4) == 0;
    if (existed)
        write_whole(output, (struct bytes){ (uint8_t *)old, sizeof old, 0 });
    write_whole(input, c.file);
    run(&c, existed || strcmp(input, output) == 0);
    unlink(input);
    unlink(output);
    return 0;
}

/* ---- How libFuzzer changes inputs ---------------------------------------- */

/* The words of the command line become others, the bytes of the file what it
 * likes; and the chunks of a PNG get the checksums that they should have, or
 * few would be read at all. */
#ifdef FUZZING
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed);

/* Appends one of the choices, between which bars stand, and a blank. */
static size_t add_choice(char *line, size_t at, const char *choices,
                         unsigned *random)
{
    unsigned count = 1;
    for (const char *p = choices; *p; p++)
        count += *p == '|';
    *random = *random * 1103515245 + 12345;
    for (unsigned n = (*random >> 8) % count; n; n--)
        choices = strchr(choices, '|') + 1;
    const size_t size = strcspn(choices, "|");
    memcpy(line + at, choices, size);
    line[at + size] = ' ';
    return at + size + 1;
}

/* Writes a whole command line and its newline. Returns its size. */
static size_t make_line(char *line, unsigned *random)
{
    static const char turns[] =
        "copy|upright|fliph|flipv|rotate90|rotate180|rotate270|transverse|"
        "transpose";
    static const char options[] =
        "|--edge=trim|--edge=tag|--edge=fail|--edge=reencode|--lossless|"
        "--tag-only|--tolerant|--strip|--strip=all|--strip=exif,xmp|"
        "--strip=icc,gps|--strip=thumbnail|--quality=50|--optimize|"
        "--no-restart|--png-level=0|--png-level=fast|--png-level=small|"
        "--png-level=6|--depth=8|--depth=16|--depth=float|--layout=chw|"
        "--layout=hwc|--background=red|--ignore-orientation|--verify|"
        "--preserve|--no-clobber|--format=png|--format=jpeg|--format=pam|"
        "--format=npy|--max-pixels=1000|--max-memory=100K|--max-memory=1M|"
        "--max-memory=10M|-j1|-j2|-j3|--json|-v|-q|--dry-run";
    static const char names[] =
        "in new.png|in old.png|in.png in.png|in.jpg in.jpg|in.jpg old.jpg|"
        "in.jpg new.png|in new.pam|in.png new.jpg|in.jpg new.jpeg|"
        "in new.ppm|in old.npy|in new.bmp|in new.tga|in new.hdr|in new.pfm|"
        "in.tga in.tga|in new.qoi|in.gif in.gif|in.gif new.png|"
        "in.bmp old.bmp|in.hdr new.hdr|in.npy in.npy|in.pbm new.pbm";
    size_t n = add_choice(line, 0, turns, random);
    for (int i = 0; i < 3; i++)
        n = add_choice(line, n, options, random);
    n = add_choice(line, n, names, random);
    line[n - 1] = '\n';
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed)
{
    char line[400];
    const uint8_t *end = memchr(data, '\n', size);
    const uint8_t *begin = end && end - data < 400 ? end + 1 : data;
    const size_t n = make_line(line, &seed);
    const size_t had = (size_t)(begin - data);
    if (had && seed >> 8 & 3) { /* the file; else the line */
        size = had + LLVMFuzzerMutate(data + had, size - had, room - had);
    } else if (size - had + n <= room) {
        memmove(data + n, begin, size - had);
        memcpy(data, line, n);
        size = size - had + n;
        return size;
    }
    if (seed >> 10 & 7)
        png_correct_checksums(data + had, size - had);
    return size;
}
#endif
