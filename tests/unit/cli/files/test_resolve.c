/* Paths with links and "..", confined to a directory and not. */
#include "cli/files/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/files/path.h"
#include "tests/support/test.h"

/* What stands in the place of the test:
 *
 *     out/secret           what no name below top/ leads to
 *     top/file, top/a/b/file
 *     top/...              the links below
 */
static const char *const links[][2] = {
    { "top/file-link", "a/b/file" },
    { "top/a/up", "../file" },
    { "top/dir-link", "a/b" },
    { "top/a/back", ".." },
    { "top/a/b/far", "../../a/b/../b/file" },
    { "top/leaves", "../out/secret" },
    { "top/a/leaves", "../../out" },
    { "top/absolute", "/" },
    { "top/chain", "dir-link/far" },
    { "top/loop", "loop2" },
    { "top/loop2", "loop" },
    { "top/nowhere", "a/new" },
    { "top/deep", "a/c/d" },
    { "top/slash", "a/b/" },
    { "top/out-and-in", "../top/file" },
};

static struct root open_root(const char *name, bool prefixed)
{
    struct root root;
    struct err err = { .text = "" };
    CHECK(root_open(&root, name, ROOT_LINKS_INSIDE, true, &err) == 0, "%s",
          err.text);
    root.prefixed = prefixed;
    return root;
}

static void put(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
          "%s", name);
    close(fd);
}

TEST_SET_UP()
{
    char text[] = "/tmp/test-resolve-XXXXXX";
    CHECK(mkdtemp(text) && chdir(text) == 0, "%s", strerror(errno));
    mkdir("out", 0777);
    mkdir("top", 0777);
    mkdir("top/a", 0777);
    mkdir("top/a/b", 0777);
    put("out/secret", "secret");
    put("top/file", "top");
    put("top/a/b/file", "deep");
    for (size_t i = 0; i < COUNT(links); i++)
        CHECK(symlink(links[i][1], links[i][0]) == 0, "%s", links[i][0]);
}

/* What is read by a name; "" if it cannot be opened, by errno. */
static const char *content(struct root *root, const char *name)
{
    static char text[64];
    struct err err = { .text = "" };
    int fd = resolve_open(root, name, O_RDONLY, &err);
    *text = '\0';
    if (fd < 0) {
        CHECK(*err.text, "%s: no reason", name);
        return text;
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

static const struct opened {
    const char *name, *text;
    int why; /* if text is "" */
} opened[] = {
    { "file", "top", 0 },
    { "a/b/file", "deep", 0 },
    { "./a//b/./file", "deep", 0 },
    { "a/../file", "top", 0 },
    { "a/b/../../file", "top", 0 },
    { "file-link", "deep", 0 },
    { "a/up", "top", 0 },
    { "dir-link/file", "deep", 0 },
    { "dir-link/../up", "top", 0 }, /* from where the link leads */
    { "a/back/file", "top", 0 },
    { "a/back/a/b/far", "deep", 0 },
    { "chain", "deep", 0 },
    { "slash/file", "deep", 0 },
    { "leaves", "", EXDEV },
    { "a/leaves/secret", "", EXDEV },
    { "absolute", "", EXDEV },
    { "absolute/tmp", "", EXDEV },
    { "..", "", EXDEV },
    { "../top/file", "", EXDEV },
    { "a/../../top/file", "", EXDEV },
    { "a/back/../out/secret", "", EXDEV },
    { "out-and-in", "", EXDEV },
    { "/tmp", "", EXDEV },
    { "loop", "", ELOOP },
    { "loop/file", "", ELOOP },
    { "none", "", ENOENT },
    { "none/../file", "", ENOENT },
    { "nowhere", "", ENOENT },
    { "", "", ENOENT },
    { "file/x", "", ENOTDIR },
    { "file/", "", ENOTDIR },
    { "file/.", "", ENOTDIR },
    { "file-link/..", "", ENOTDIR },
};

TEST(open)
{
    struct root root = open_root("top", false);
    for (size_t i = 0; i < COUNT(opened); i++) {
        const struct opened *o = &opened[i];
        const char *text = content(&root, o->name);
        int why = errno;
        CHECK(strcmp(text, o->text) == 0, "%s: %s", o->name, text);
        CHECK(*o->text || why == o->why, "%s: %s", o->name, strerror(why));
    }
    root_close(&root);
}

/* A name that begins with that of its root. */
TEST(prefix)
{
    struct root root = open_root("top/a", true);
    CHECK(strcmp(content(&root, "top/a/b/file"), "deep") == 0, "prefix");
    CHECK(strcmp(content(&root, "top/a//b/file"), "deep") == 0, "slashes");
    CHECK(!*content(&root, "top/a/up") && errno == EXDEV, "link");
    CHECK(!*content(&root, "top/file") && errno == EXDEV, "another");
    CHECK(!*content(&root, "top/ab") && errno == EXDEV, "half a name");
    root_close(&root);
}

/* Paths found by a walk of top: links that the walk does not follow are
 * refused, wherever they lead. */
static void check_walk(bool kept, enum root_links taken)
{
    struct root root;
    struct location place;
    struct stat st;
    struct err err = { .text = "" };
    bool to_file = taken == ROOT_LINKS_TO_FILE;
    CHECK(root_open(&root, "top", taken, kept, &err) == 0, "%s", err.text);
    CHECK(strcmp(content(&root, "top/a/b/file"), "deep") == 0, "a file");
    CHECK(!*content(&root, "top/dir-link/file") && errno == ELOOP,
          "a directory that is a link");
    CHECK(!*content(&root, "top/a/leaves/secret") && errno == ELOOP,
          "one that leads out");
    CHECK(!*content(&root, "top/a/../leaves/x"), "by ..");
    CHECK(!*content(&root, "top/../out/secret"), "out by ..");
    CHECK(!*content(&root, "out/secret") && errno == EXDEV, "another");
    CHECK(strcmp(content(&root, "top/leaves"), to_file ? "secret" : "") == 0,
          "a file that is a link");
    CHECK(strcmp(content(&root, "top/a/up"), to_file ? "top" : "") == 0,
          "one by ..");
    CHECK(resolve_stat(&root, "top/leaves", true, &st) == to_file, "its stat");
    CHECK(resolve_stat(&root, "top/leaves", false, &st) && S_ISLNK(st.st_mode),
          "the link");
    CHECK(!resolve_stat(&root, "top/dir-link/file", true, &st), "no stat");
    CHECK(
        resolve_file(&root, "top/dir-link/file", RESOLVE_FAIL, &place, &err) &&
            strcmp(err.text, "dir-link has become a link, which is not "
                             "followed") == 0,
        "%s", err.text);
    CHECK(resolve_file(&root, "top/file-link", RESOLVE_FAIL, &place, &err),
          "written");
    CHECK(resolve_file(&root, "top/a/b/file", RESOLVE_FAIL, &place, &err) == 0,
          "%s", err.text);
    close(place.directory);
    root_close(&root);
    CHECK(root_open(&root, "top/gone", taken, kept, &err), "not there");
    root_close(&root);
    CHECK(root_open(&root, "top/dir-link", taken, kept, &err) == 0, "%s",
          err.text);
    CHECK(strcmp(content(&root, "top/dir-link/file"), "deep") == 0,
          "the root may be a link");
    root_close(&root);
}

TEST(walked)
{
    for (int kept = 0; kept < 2; kept++) {
        check_walk(kept, ROOT_LINKS_TO_FILE);
        check_walk(kept, ROOT_LINKS_NONE);
    }
}

/* Where a name is to be written, as "DIRECTORY/BASE" below the test's place. */
static const struct found {
    const char *name, *directory, *base;
    bool exists;
} found[] = {
    { "file", "top", "file", true },
    { "new", "top", "new", false },
    { "file-link", "top/a/b", "file", true },
    { "nowhere", "top/a", "new", false },
    { "dir-link/../up", "top", "file", true },
    { "dir-link/new", "top/a/b", "new", false },
    { "chain", "top/a/b", "file", true },
    { "a/../a/b/x", "top/a/b", "x", false },
};

static void check_found(struct root *root, const struct found *f,
                        const char *name)
{
    struct location place;
    struct err err = { .text = "" };
    CHECK(resolve_file(root, name, RESOLVE_FAIL, &place, &err) == 0, "%s: %s",
          name, err.text);
    CHECK(strcmp(place.base, f->base) == 0, "%s: %s", name, place.base);
    CHECK(place.exists == f->exists, "%s", name);
    /* Closes the place, which has to be in this directory. */
    struct stat one, two;
    CHECK(fstat(place.directory, &one) == 0 && stat(f->directory, &two) == 0 &&
              one.st_ino == two.st_ino,
          "%s: not in %s", name, f->directory);
    close(place.directory);
}

TEST(file)
{
    struct root root = open_root("top", false);
    struct err err = { .text = "" };
    struct location place;
    char whole[64];
    for (size_t i = 0; i < COUNT(found); i++) {
        check_found(&root, &found[i], found[i].name);
        snprintf(whole, sizeof whole, "top/%s", found[i].name);
        check_found(NULL, &found[i], whole);
    }
    for (size_t i = 0; i < COUNT(opened); i++) {
        if (opened[i].why != EXDEV || strcmp(opened[i].name, "..") == 0)
            continue;
        CHECK(resolve_file(&root, opened[i].name, RESOLVE_MAKE, &place, &err) ==
                  -1,
              "%s", opened[i].name);
        CHECK(strstr(err.text, "leads out of top"), "%s: %s", opened[i].name,
              err.text);
    }
    CHECK(resolve_file(&root, "none/new", RESOLVE_FAIL, &place, &err) == -1 &&
              strstr(err.text, "its directory does not exist"),
          "%s", err.text);
    root_close(&root);
}

/* A link of /proc leads to an open file, which need not have a name. */
TEST(magic)
{
    struct root root;
    struct err err = { .text = "" };
    struct location place;
    char name[64];
    int ends[2], fd = open("top/file", O_RDONLY);
    CHECK(pipe(ends) == 0, "pipe");
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
    CHECK(resolve_file(NULL, name, RESOLVE_FAIL, &place, &err) == 0 &&
              place.magic && S_ISFIFO(place.st.st_mode),
          "a pipe: %s", err.text);
    close(place.directory);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    CHECK(resolve_file(NULL, name, RESOLVE_FAIL, &place, &err) == 0 &&
              place.magic && strcmp(place.base, "file") == 0,
          "a file: %s", err.text);
    close(place.directory);
    root = open_root("/proc", false);
    snprintf(name, sizeof name, "%d/fd/%d", (int)getpid(), ends[1]);
    CHECK(resolve_file(&root, name, RESOLVE_FAIL, &place, &err) == -1,
          "confined");
    CHECK(!*content(&root, "self/root/etc/passwd"), "out by /proc/self/root");
    root_close(&root);
    close(ends[0]);
    close(ends[1]);
    close(fd);
}

/* Whether it exists or not; what is behind a loop of links stays as it is. */
TEST(canonical)
{
    static const char *const names[][2] = {
        { "", "" },
        { ".", "" },
        { "top//a/./b/file", "/top/a/b/file" },
        { "top/a/../a/b/..", "/top/a" },
        { "top/chain", "/top/a/b/file" },
        { "top/dir-link/..", "/top/a" },
        { "top/slash/../up", "/top/file" },
        { "top/a/back/file", "/top/file" },
        { "top/leaves/", "/out/secret" },
        { "top/out-and-in", "/top/file" },
        { "top/nowhere/x/y", "/top/a/new/x/y" },
        { "top/deep/../x", "/top/a/c/x" },
        { "new/x/../../top/file-link", "/top/file-link" },
        { "new//./x/../y/", "/new/y" },
        { "top/file/x", "/top/file/x" },
        { "top/loop/x", "/top/loop/x" },
        { "top/a/../../top/a", "/top/a" },
    };
    static const char *const whole[][2] = { { "/", "/" },
                                            { "/..", "/" },
                                            { "//no-such//x/..", "/no-such" },
                                            { "/no-such/../../x", "/x" } };
    char here[PATH_MAX], want[2 * PATH_MAX];
    struct path_text path;
    struct err err = { .text = "" };
    CHECK(getcwd(here, sizeof here), "here");
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(want, sizeof want, "%s%s", here, names[i][1]);
        const char *name = names[i][0];
        CHECK(resolve_canonical(&path, name, strlen(name), &err) == 0 &&
                  strcmp(path.text, want) == 0,
              "%s: %s", name, path.text);
        snprintf(want, sizeof want, "%s/%s", here, name);
        CHECK(resolve_canonical(&path, want, strlen(want), &err) == 0, "%s",
              err.text);
        snprintf(want, sizeof want, "%s%s", here, names[i][1]);
        CHECK(strcmp(path.text, want) == 0, "%s: %s", name, path.text);
    }
    for (size_t i = 0; i < COUNT(whole); i++)
        CHECK(resolve_canonical(&path, whole[i][0], strlen(whole[i][0]),
                                &err) == 0 &&
                  strcmp(path.text, whole[i][1]) == 0,
              "%s: %s", whole[i][0], path.text);
}

TEST_TEAR_DOWN()
{
    char here[PATH_MAX], command[PATH_MAX + 16];
    if (getcwd(here, sizeof here)) {
        snprintf(command, sizeof command, "rm -rf '%s'", here);
        CHECK(chdir("/") == 0 && system(command) == 0, "%s", command);
    }
}
