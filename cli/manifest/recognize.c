/* Jobs that a manifest knows by other names. */
#include "cli/manifest/recognize.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/checksum.h"
#include "cli/select/hash.h"
#include "cli/select/path.h"
#include "cli/manifest/timestamp.h"

/* What an entry is found by, whatever it is called now. */
enum clue {
    CLUE_NOW,  /* the file under its name, as it is now */
    CLUE_THEN, /* the file that was written */
    CLUE_SIZE, /* its size, where there is a checksum, too */
    CLUE_NAME, /* as it was given, not where it was given */
};

struct lead {
    uint64_t hash; /* of the clue */
    size_t number; /* of the entry */
    enum clue clue;
};

/* What is known of an entry that is no job here. */
struct state {
    bool met;    /* but this one is */
    bool there;  /* it is where it was: */
    bool lost;   /* it is not, or is not what was written; or nobody can tell
                    where it was, but */
    bool likely; /* here is a file of its name and size */
    dev_t device;
    ino_t inode;
};

struct search {
    struct manifest_index *index;
    size_t entries; /* without those that are adopted */
    const struct jobs *jobs;
    struct state *state; /* of each entry */
    size_t *stranger;    /* the jobs that are not known by their names */
    size_t strangers;
    struct lead *lead; /* sorted */
    size_t leads;
    size_t known, unknown; /* of what is replaced in place and is there */
};

static int no_memory(struct err *err)
{
    return fail(err, "no memory to compare the files with the manifest");
}

/* ---- Who is known by name ------------------------------------------------ */

/* A name alone is not enough where nobody knows from which directory it is, and
 * a mistake would turn a file once more, or never. What is ready is looked at
 * anyway. */
static bool is_sure(const struct entry *entry)
{
    return entry->facts.placed || !entry->in_place ||
           entry->facts.status != STATUS_DONE;
}

static int find_strangers(struct search *s, struct err *err)
{
    struct manifest_index *index = s->index;
    s->state = calloc(s->entries + 1, sizeof *s->state);
    s->stranger = calloc(s->jobs->count + 1, sizeof *s->stranger);
    if (!s->state || !s->stranger)
        return no_memory(err);
    for (size_t i = 0; i < s->jobs->count; i++) {
        struct record job = s->jobs->job(s->jobs->context, i);
        const struct entry *entry = manifest_index_find(index, &job);
        if (entry && is_sure(entry)) {
            s->state[entry - index->entry].met = true;
            s->known++;
        } else {
            s->stranger[s->strangers++] = i;
        }
    }
    return 0;
}

/* ---- What the manifest knows --------------------------------------------- */

static bool is_as_written(const struct stat *st, const struct facts *facts)
{
    return (uint64_t)st->st_size == facts->written &&
           (!facts->made.known ||
            timestamp_compare(st->st_mtim, facts->made_time) == 0);
}

static void look_at(struct search *s, size_t i)
{
    const struct entry *entry = &s->index->entry[i];
    struct state *state = &s->state[i];
    char path[PATH_MAX];
    struct stat st;
    bool found = manifest_index_path(s->index, entry, entry->input, path) &&
                 stat(path, &st) == 0;
    bool likely = found && is_as_written(&st, &entry->facts);
    state->there = found && entry->facts.placed;
    state->lost = !state->there || !likely;
    state->likely = likely;
    if (!state->there)
        return;
    state->device = st.st_dev;
    state->inode = st.st_ino;
}

static uint64_t hash_of(enum clue clue, uint64_t a, uint64_t b)
{
    return hash_pair((uint64_t)clue, hash_pair(a, b));
}

static uint64_t hash_names(const char *input, const char *output)
{
    return hash_of(CLUE_NAME, path_hash("", input), path_hash("", output));
}

static void add_lead(struct search *s, enum clue clue, uint64_t hash, size_t i)
{
    s->lead[s->leads++] = (struct lead){ hash, i, clue };
}

static void add_leads(struct search *s, size_t i)
{
    const struct entry *entry = &s->index->entry[i];
    const struct facts *facts = &entry->facts;
    const struct state *state = &s->state[i];
    add_lead(s, CLUE_NAME, hash_names(entry->input, entry->output), i);
    if (!entry->in_place)
        return;
    look_at(s, i);
    if (state->there)
        add_lead(s, CLUE_NOW, hash_of(CLUE_NOW, state->device, state->inode),
                 i);
    if (facts->made.known)
        add_lead(s, CLUE_THEN,
                 hash_of(CLUE_THEN, facts->made.device, facts->made.inode), i);
    if (facts->summed && state->lost)
        add_lead(s, CLUE_SIZE, hash_of(CLUE_SIZE, facts->written, 0), i);
}

static int by_hash(const void *left, const void *right)
{
    const struct lead *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The leads to all that is no job here. */
static int gather_leads(struct search *s, const char *op, struct err *err)
{
    s->lead = malloc((s->entries + 1) * 4 * sizeof *s->lead);
    if (!s->lead)
        return no_memory(err);
    for (size_t i = 0; i < s->entries; i++) {
        const struct entry *entry = &s->index->entry[i];
        if (!s->state[i].met && entry->facts.status >= STATUS_READY &&
            strcmp(entry->op, op) == 0)
            add_leads(s, i);
    }
    qsort(s->lead, s->leads, sizeof *s->lead, by_hash);
    return 0;
}

/* ---- A job --------------------------------------------------------------- */

/* A job that is not known by its names, and its input. */
struct stranger {
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

static bool has_sum(struct stranger *who, const struct facts *facts)
{
    uint64_t size;
    if (!facts->summed || (uint64_t)who->st.st_size != facts->written)
        return false;
    if (!who->summed)
        who->readable = checksum_file(who->job.input_root, who->job.input,
                                      &size, &who->crc);
    who->summed = true;
    return who->readable && who->crc == facts->crc;
}

/* The file that was written; or another one that has got its inode since. It
 * may be the original, if that has the same size and time, as with --preserve,
 * and then the bytes tell. */
static bool is_what_was_made(struct stranger *who, const struct facts *facts)
{
    bool alike = facts->size == facts->written &&
                 timestamp_compare(facts->mtime, facts->made_time) == 0;
    return is_file(&who->st, facts->made.device, facts->made.inode) &&
           is_as_written(&who->st, facts) &&
           (!alike || !facts->summed || has_sum(who, facts));
}

static bool has_names(const struct stranger *who, const struct entry *entry)
{
    const char *options = who->job.options ? who->job.options : "";
    return path_compare("", entry->input, "", who->job.input) == 0 &&
           path_compare("", entry->output, "", who->job.output) == 0 &&
           (entry->in_place || strcmp(entry->options, options) == 0);
}

/* Whether it is what this entry speaks of, as far as this clue tells. */
static bool is_it(const struct search *s, struct stranger *who,
                  const struct lead *lead)
{
    const struct entry *entry = &s->index->entry[lead->number];
    const struct state *state = &s->state[lead->number];
    const struct facts *facts = &entry->facts;
    if (entry->in_place != who->in_place)
        return false;
    switch (lead->clue) {
    case CLUE_NOW:
        return is_file(&who->st, state->device, state->inode);
    case CLUE_THEN:
        return is_what_was_made(who, facts);
    case CLUE_SIZE:
        return has_sum(who, facts);
    case CLUE_NAME:
        return has_names(who, entry) && (!who->in_place || state->lost);
    }
    return false;
}

/* The entry that a clue leads to; NULL: none. */
static const struct entry *follow(const struct search *s, struct stranger *who,
                                  enum clue clue, uint64_t hash)
{
    size_t low = 0, high = s->leads;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->lead[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->leads && s->lead[low].hash == hash; low++)
        if (s->lead[low].clue == clue && is_it(s, who, &s->lead[low]))
            return &s->index->entry[s->lead[low].number];
    return NULL;
}

static const struct entry *follow_all(const struct search *s,
                                      struct stranger *who)
{
    uint64_t device = who->st.st_dev, inode = who->st.st_ino;
    uint64_t size = (uint64_t)who->st.st_size;
    const struct entry *found =
        follow(s, who, CLUE_NOW, hash_of(CLUE_NOW, device, inode));
    if (!found)
        found = follow(s, who, CLUE_THEN, hash_of(CLUE_THEN, device, inode));
    if (!found)
        found = follow(s, who, CLUE_SIZE, hash_of(CLUE_SIZE, size, 0));
    return found;
}

enum kinship { KIN, ORIGINAL, UNCLEAR };

/* Whether a file is what was made, by a line that knows its name alone; or what
 * that was made of. With --preserve these have the same time, and may have the
 * same size. What is ready is compared once more, by its bytes. */
static enum kinship compare(const struct stat *st, const struct facts *facts)
{
    bool made = is_as_written(st, facts) && facts->made.known;
    bool read = (uint64_t)st->st_size == facts->size &&
                timestamp_compare(st->st_mtim, facts->mtime) == 0;
    bool alike =
        read && facts->size == facts->written && (made || !facts->made.known);
    if (facts->status == STATUS_READY)
        return KIN;
    if (alike) /* then it has not the checksum of what was made */
        return facts->summed ? ORIGINAL : UNCLEAR;
    return made ? KIN : read ? ORIGINAL : UNCLEAR;
}

static int fail_unclear(const struct entry *entry, const struct stranger *who,
                        struct err *err)
{
    return fail(err, "%s: a file of this name was done%s%s, and nobody can "
                     "tell whether it is this one; begin another manifest, or "
                     "leave it out by --exclude",
                who->job.input, entry->here ? " from " : "",
                entry->here ? entry->here : ", from a directory that is not "
                                            "noted");
}

/* A name leads to an entry: is it the same file? */
static int judge(struct search *s, struct stranger *who,
                 const struct entry *entry, struct err *err)
{
    const struct entry *own = manifest_index_find(s->index, &who->job);
    enum kinship kinship = KIN;
    if (who->in_place)
        kinship = compare(&who->st, &entry->facts);
    if (kinship == UNCLEAR)
        return fail_unclear(entry, who, err);
    if (kinship == ORIGINAL && own)
        manifest_index_forget(s->index, own);
    if (kinship == KIN) {
        s->known++;
        if (!own && manifest_index_adopt(s->index, &who->job, entry))
            return no_memory(err);
    }
    return 0;
}

static int recognize_job(struct search *s, size_t i, struct err *err)
{
    struct stranger who = { .job = s->jobs->job(s->jobs->context, i) };
    const char *input = who.job.input, *output = who.job.output;
    const struct entry *found = NULL;
    who.in_place = path_compare("", input, "", output) == 0;
    bool there = resolve_stat(who.job.input_root, input, true, &who.st) &&
                 S_ISREG(who.st.st_mode);
    if (who.in_place && !there)
        return 0; /* it fails when its turn comes */
    if (who.in_place)
        found = follow_all(s, &who);
    if (found) {
        s->known++;
        return manifest_index_find(s->index, &who.job) ||
                       manifest_index_adopt(s->index, &who.job, found) == 0
                   ? 0
                   : no_memory(err);
    }
    found = follow(s, &who, CLUE_NAME, hash_names(input, output));
    if (found)
        return judge(s, &who, found, err);
    s->unknown += who.in_place;
    return 0;
}

/* ---- All of them --------------------------------------------------------- */

/* None of these is known, and files of the manifest are not where they were: it
 * may speak of these. */
static int check_lost(const struct search *s, const char *op, struct err *err)
{
    const char *here = NULL;
    size_t lost = 0;
    if (s->known || !s->unknown)
        return 0;
    for (size_t i = 0; i < s->entries; i++) {
        const struct entry *entry = &s->index->entry[i];
        if (!s->state[i].lost || s->state[i].likely || strcmp(entry->op, op) != 0)
            continue;
        here = lost++ ? here : entry->here;
    }
    if (!lost)
        return 0;
    return fail(err, "it speaks of %zu files %s%s that are not there now, and "
                     "of none of these; so nobody can tell which of these are "
                     "done. Start from the same directory, or begin another "
                     "manifest",
                lost, here ? "from " : "from a directory that is not noted",
                here ? here : "");
}

static int search(struct search *s, struct err *err)
{
    if (s->index->count == 0 || s->jobs->count == 0)
        return 0;
    if (find_strangers(s, err))
        return -1;
    if (s->strangers == 0)
        return 0;
    struct record first = s->jobs->job(s->jobs->context, 0);
    if (gather_leads(s, first.op, err))
        return -1;
    for (size_t i = 0; i < s->strangers; i++)
        if (recognize_job(s, s->stranger[i], err))
            return -1;
    return check_lost(s, first.op, err);
}

int recognize(struct manifest_index *index, const struct jobs *jobs,
              struct err *err)
{
    struct search s = {
        .index = index,
        .entries = index->count,
        .jobs = jobs,
    };
    int status = search(&s, err);
    free(s.state);
    free(s.stranger);
    free(s.lead);
    return status;
}
