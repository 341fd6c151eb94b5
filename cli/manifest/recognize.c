/* Recognizes jobs that a manifest has under other names.
 *
 * A file that was replaced in place must not be turned once more. So each file
 * that is to be replaced, and that the manifest does not have by name, is
 * compared with the files of the manifest that are not among the jobs. It is
 * recognized
 *
 *   - if it is the same file, by device and inode, now or when it was written;
 *   - if its bytes, by size and CRC-32, are those of a file that is not where
 * it was;
 *   - if it has the name of a file that is not where it was, though from
 * another directory, or from one that was not noted; then size and time say
 * whether it is the result or the original, and if they do not, that is an
 * error.
 *
 * A job with an output of its own does no harm if it is done again. It is
 * recognized by its names from another directory, and then the files decide. */
#include "cli/manifest/resume.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/files.h"
#include "cli/files/hash.h"
#include "cli/files/path.h"

/* By what an entry is found, whatever its name is now. */
enum found_by {
    BY_CURRENT_FILE, /* the file that has its name now */
    BY_WRITTEN_FILE, /* the file that was written */
    BY_CONTENT,      /* its size, and then its checksum */
    BY_NAME,         /* as it was given, from whatever directory */
};

struct candidate {
    uint64_t hash;
    size_t entry; /* its number */
    enum found_by by;
};

/* The state of an entry's file, unless it is a job of this batch. */
struct entry_state {
    bool is_job;
    bool there;   /* it is where it was, */
    dev_t device; /* and is this file */
    ino_t inode;
    bool lost;   /* it is not there, or not what was written; or it is not known
                    where it was */
    bool likely; /* a file of its name and size is in the current directory */
};

struct search {
    struct manifest_index *index;
    size_t entries; /* without those that are adopted */
    size_t jobs;
    struct record (*job)(void *context, size_t i);
    void *context;
    struct entry_state *state; /* of each entry */
    size_t *unmatched;         /* the jobs that are not known by their names */
    size_t nunmatched;
    struct candidate *candidate; /* sorted by hash */
    size_t candidates;
    size_t known, unknown; /* of the files to be replaced that are there */
};

static int no_memory(struct err *err)
{
    return fail(err, "no memory to compare the files with the manifest");
}

/* ---- Jobs that are known by name ----------------------------------------- */

/* Returns whether an entry with the name of a job is surely about it. A name
 * whose directory was not noted is not enough where a mistake would turn a file
 * once more, or never; but files that are ready are compared anyway. */
static bool is_sure(const struct entry *entry)
{
    return entry->facts.placed || !entry->in_place ||
           entry->facts.status != STATUS_DONE;
}

static int match_names(struct search *s, struct err *err)
{
    struct manifest_index *index = s->index;
    s->state = calloc(s->entries + 1, sizeof *s->state);
    s->unmatched = calloc(s->jobs + 1, sizeof *s->unmatched);
    if (!s->state || !s->unmatched)
        return no_memory(err);
    for (size_t i = 0; i < s->jobs; i++) {
        struct record job = s->job(s->context, i);
        const struct entry *entry = manifest_index_find(index, &job);
        if (entry && is_sure(entry)) {
            s->state[entry - index->entry].is_job = true;
            s->known++;
        } else {
            s->unmatched[s->nunmatched++] = i;
        }
    }
    return 0;
}

/* ---- Candidates ---------------------------------------------------------- */

static void look_at(struct search *s, size_t i)
{
    const struct entry *entry = &s->index->entry[i];
    struct entry_state *state = &s->state[i];
    char path[PATH_MAX];
    struct stat st;
    bool found = manifest_index_path(s->index, entry, entry->input, path) &&
                 stat(path, &st) == 0;
    bool likely = found && facts_fit_output(&entry->facts, &st);
    state->there = found && entry->facts.placed;
    state->lost = !state->there || !likely;
    state->likely = likely;
    if (!state->there)
        return;
    state->device = st.st_dev;
    state->inode = st.st_ino;
}

/* Two numbers identify what an entry is found by. */
static uint64_t hash_of(enum found_by by, uint64_t a, uint64_t b)
{
    return hash_pair((uint64_t)by, hash_pair(a, b));
}

static void add_candidate(struct search *s, size_t entry, enum found_by by,
                          uint64_t a, uint64_t b)
{
    s->candidate[s->candidates++] =
        (struct candidate){ hash_of(by, a, b), entry, by };
}

static void add_candidates(struct search *s, size_t i)
{
    const struct entry *entry = &s->index->entry[i];
    const struct facts *facts = &entry->facts;
    const struct entry_state *state = &s->state[i];
    add_candidate(s, i, BY_NAME, path_hash("", entry->input),
                  path_hash("", entry->output));
    if (!entry->in_place)
        return;
    look_at(s, i);
    if (state->there)
        add_candidate(s, i, BY_CURRENT_FILE, state->device, state->inode);
    if (facts->made.known)
        add_candidate(s, i, BY_WRITTEN_FILE, facts->made.device,
                      facts->made.inode);
    if (facts->summed && state->lost)
        add_candidate(s, i, BY_CONTENT, facts->written, 0);
}

static int by_hash(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Gathers the entries of this operation that are not jobs of this batch. */
static int gather_candidates(struct search *s, const char *op, struct err *err)
{
    s->candidate = malloc((s->entries + 1) * 4 * sizeof *s->candidate);
    if (!s->candidate)
        return no_memory(err);
    for (size_t i = 0; i < s->entries; i++) {
        const struct entry *entry = &s->index->entry[i];
        if (!s->state[i].is_job && entry->facts.status >= STATUS_READY &&
            strcmp(entry->op, op) == 0)
            add_candidates(s, i);
    }
    qsort(s->candidate, s->candidates, sizeof *s->candidate, by_hash);
    return 0;
}

/* ---- A job --------------------------------------------------------------- */

/* A job that is not known by its names, and its input. */
struct unmatched_job {
    struct record job;
    bool in_place;
    struct stat st;
    bool summed, readable;
    uint32_t crc;
};

static bool is_file(const struct stat *st, uint64_t device, uint64_t inode)
{
    return st->st_dev == device && st->st_ino == inode;
}

static bool has_sum(struct unmatched_job *file, const struct facts *facts)
{
    uint64_t size;
    if (!facts->summed || (uint64_t)file->st.st_size != facts->written)
        return false;
    if (!file->summed)
        file->readable = file_checksum(file->job.input_root, file->job.input,
                                       &size, &file->crc);
    file->summed = true;
    return file->readable && file->crc == facts->crc;
}

/* Returns whether it is the file that was written, not another one that has its
 * inode now. With --preserve that may be the original, of the same size and
 * time; then the bytes decide. */
static bool is_what_was_made(struct unmatched_job *file,
                             const struct facts *facts)
{
    return is_file(&file->st, facts->made.device, facts->made.inode) &&
           facts_fit_output(facts, &file->st) &&
           (!facts_are_alike(facts) || !facts->summed || has_sum(file, facts));
}

static bool has_names(const struct unmatched_job *file,
                      const struct entry *entry)
{
    const char *options = file->job.options ? file->job.options : "";
    return path_compare("", entry->input, "", file->job.input) == 0 &&
           path_compare("", entry->output, "", file->job.output) == 0 &&
           (entry->in_place || strcmp(entry->options, options) == 0);
}

/* Returns whether the file is that of a candidate. */
static bool is_same(const struct search *s, struct unmatched_job *file,
                    const struct candidate *candidate)
{
    const struct entry *entry = &s->index->entry[candidate->entry];
    const struct entry_state *state = &s->state[candidate->entry];
    const struct facts *facts = &entry->facts;
    if (entry->in_place != file->in_place)
        return false;
    switch (candidate->by) {
    case BY_CURRENT_FILE:
        return is_file(&file->st, state->device, state->inode);
    case BY_WRITTEN_FILE:
        return is_what_was_made(file, facts);
    case BY_CONTENT:
        return has_sum(file, facts);
    case BY_NAME:
        return has_names(file, entry) && (!file->in_place || state->lost);
    }
    return false;
}

/* Returns the entry that is found so; NULL: none. */
static const struct entry *find_by(const struct search *s,
                                   struct unmatched_job *file, enum found_by by,
                                   uint64_t a, uint64_t b)
{
    uint64_t hash = hash_of(by, a, b);
    size_t low = 0, high = s->candidates;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->candidate[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->candidates && s->candidate[low].hash == hash; low++)
        if (s->candidate[low].by == by && is_same(s, file, &s->candidate[low]))
            return &s->index->entry[s->candidate[low].entry];
    return NULL;
}

static const struct entry *find_file(const struct search *s,
                                     struct unmatched_job *file)
{
    const struct stat *st = &file->st;
    const struct entry *found =
        find_by(s, file, BY_CURRENT_FILE, st->st_dev, st->st_ino);
    if (!found)
        found = find_by(s, file, BY_WRITTEN_FILE, st->st_dev, st->st_ino);
    return found ? found
                 : find_by(s, file, BY_CONTENT, (uint64_t)st->st_size, 0);
}

enum likeness { IS_RESULT, IS_ORIGINAL, IS_UNCLEAR };

/* Returns whether a file is the result or the original, by a line that has only
 * its name. With --preserve these have the same time, and may have the same
 * size. Files that are ready are compared later, by their bytes. */
static enum likeness compare(const struct stat *st, const struct facts *facts)
{
    bool made = facts->made.known && facts_fit_output(facts, st);
    bool read = facts_fit_input(facts, st);
    bool alike =
        read && facts->size == facts->written && (made || !facts->made.known);
    if (facts->status == STATUS_READY)
        return IS_RESULT;
    if (alike) /* and it has not the checksum of the result */
        return facts->summed ? IS_ORIGINAL : IS_UNCLEAR;
    return made ? IS_RESULT : read ? IS_ORIGINAL : IS_UNCLEAR;
}

static int fail_unclear(const struct entry *entry,
                        const struct unmatched_job *file, struct err *err)
{
    return fail(err,
                "%s: a file of this name was done%s%s, and it is unknown "
                "whether it is this one; begin another manifest, or leave it "
                "out by --exclude",
                file->job.input, entry->directory ? " from " : "",
                entry->directory ? entry->directory
                                 : ", from a directory that is not "
                                   "noted");
}

/* Decides about a job whose name is that of an entry. */
static int decide_by_name(struct search *s, struct unmatched_job *file,
                          const struct entry *entry, struct err *err)
{
    const struct entry *own = manifest_index_find(s->index, &file->job);
    enum likeness likeness = IS_RESULT;
    if (file->in_place)
        likeness = compare(&file->st, &entry->facts);
    if (likeness == IS_UNCLEAR)
        return fail_unclear(entry, file, err);
    if (likeness == IS_ORIGINAL && own) /* it is still to be done */
        s->index->entry[own - s->index->entry].facts.status = STATUS_SKIPPED;
    if (likeness == IS_RESULT) {
        s->known++;
        if (!own && manifest_index_adopt(s->index, &file->job, entry))
            return no_memory(err);
    }
    return 0;
}

static int recognize_job(struct search *s, size_t i, struct err *err)
{
    struct unmatched_job file = { .job = s->job(s->context, i) };
    const char *input = file.job.input, *output = file.job.output;
    const struct entry *found = NULL;
    file.in_place = path_compare("", input, "", output) == 0;
    bool there = resolve_stat(file.job.input_root, input, true, &file.st) &&
                 S_ISREG(file.st.st_mode);
    if (file.in_place && !there)
        return 0; /* the job will fail */
    if (file.in_place)
        found = find_file(s, &file);
    if (found) {
        s->known++;
        return manifest_index_find(s->index, &file.job) ||
                       manifest_index_adopt(s->index, &file.job, found) == 0
                   ? 0
                   : no_memory(err);
    }
    found =
        find_by(s, &file, BY_NAME, path_hash("", input), path_hash("", output));
    if (found)
        return decide_by_name(s, &file, found, err);
    s->unknown += file.in_place;
    return 0;
}

/* ---- All jobs ------------------------------------------------------------ */

/* Fails if none of the files is known, and files of the manifest are not where
 * they were: they may be these. */
static int check_lost(const struct search *s, const char *op, struct err *err)
{
    const char *directory = NULL;
    size_t lost = 0;
    if (s->known || !s->unknown)
        return 0;
    for (size_t i = 0; i < s->entries; i++) {
        const struct entry *entry = &s->index->entry[i];
        if (s->state[i].lost && !s->state[i].likely &&
            strcmp(entry->op, op) == 0)
            directory = lost++ ? directory : entry->directory;
    }
    if (!lost)
        return 0;
    return fail(err,
                "the manifest has %zu files %s%s that are not there now, and "
                "none of these, so that it is unknown which of these are done; "
                "start from the same directory, or begin another manifest",
                lost,
                directory ? "from " : "from a directory that is not noted",
                directory ? directory : "");
}

static int search(struct search *s, struct err *err)
{
    if (s->index->count == 0 || s->jobs == 0)
        return 0;
    if (match_names(s, err))
        return -1;
    if (s->nunmatched == 0)
        return 0;
    struct record first = s->job(s->context, 0);
    if (gather_candidates(s, first.op, err))
        return -1;
    for (size_t i = 0; i < s->nunmatched; i++)
        if (recognize_job(s, s->unmatched[i], err))
            return -1;
    return check_lost(s, first.op, err);
}

int resume_recognize(struct resume *resume, size_t count,
                     struct record (*job)(void *context, size_t i),
                     void *context, struct err *err)
{
    struct search s = {
        .index = &resume->index,
        .entries = resume->index.count,
        .jobs = count,
        .job = job,
        .context = context,
    };
    int status = search(&s, err);
    free(s.state);
    free(s.unmatched);
    free(s.candidate);
    return status;
}
