#define _GNU_SOURCE 1
#include "report/command/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command/answers_ahead.h"
#include "report/command/perf_map.h"
#include "report/command/say.h"
#include "report/command/table.h"

/* Processes beyond these are ended, the one that was asked longest ago first. What a process has
 * read is read again if it is asked for once more. */
enum { LIVING_MAX = 256 };
#define TAKEN_MAX_BYTES (UINT64_C(256) << 20)

/* Answers have some hundred bytes. Those of all modules together, and of each question besides: */
enum { ANSWER_BYTES_MAX = 64 * 1024 * 1024, ANSWER_BYTES_EACH = 2048 };

/* What reading may cost for all modules together, and in vain. Servers of debug files have a time
 * of their own. */
#define SPENT_MAX_NS (INT64_C(120) * 1000000000)
#define LOST_MAX_NS (INT64_C(20) * 1000000000)

struct module {
    struct sc_node node; /* by path and build id */
    struct module *next;
    char *path;
    char *build_id;                   /* "" if it has none, NULL if not known */
    bool is_unknown;                  /* no names are to be had */
    bool without_lines;               /* reading them has failed */
    struct sc_symbolizer *symbolizer; /* NULL: not asked yet, or ended */
    uint64_t asked;                   /* when it was asked last, in questions */
    struct sc_answers_ahead answers;
};

struct sc_symbols {
    struct module *modules;
    struct module *last; /* that was asked for */
    struct sc_table table;
    char *folders; /* where files are looked for that are not at their paths; divided by colons */
    int64_t pid;   /* 0: no process was named, or several */
    bool several;
    struct sc_perf_map *made_at_run_time; /* by that process; NULL until somebody asks */

    struct sc_symbolizer_notes *notes;
    struct module *living[LIVING_MAX]; /* those with a process */
    size_t living_count;
    uint64_t questions, answers;
    uint64_t answer_bytes;
    int64_t spent_ns, lost_ns; /* on all questions, and on those without an answer */
    bool are_given_up, told_of_lines;
    struct sc_symbol_answer answer;
};

/* Makes the finder of names and lines. NULL: no memory. */
struct sc_symbols *sc_symbols_new(void)
{
    struct sc_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols) {
        symbols->folders = strdup("/usr/lib/debug");
        symbols->notes = sc_symbolizer_notes_new();
    }
    if (symbols && symbols->folders && symbols->notes)
        return symbols;
    sc_symbols_free(symbols);
    return NULL;
}

static void free_module(struct module *module)
{
    sc_symbolizer_end(module->symbolizer);
    sc_answers_ahead_free(&module->answers);
    free(module->build_id);
    free(module->path);
    free(module);
}

/* Ends all children that read modules, and frees all; NULL does nothing. */
void sc_symbols_free(struct sc_symbols *symbols)
{
    while (symbols && symbols->modules) {
        struct module *module = symbols->modules;
        symbols->modules = module->next;
        free_module(module);
    }
    if (symbols) {
        sc_table_free(&symbols->table);
        sc_perf_map_close(symbols->made_at_run_time);
        sc_symbolizer_notes_free(symbols->notes);
        free(symbols->folders);
    }
    free(symbols);
}

/* Finds, or adds, the build of the module. Returns NULL if memory runs out. */
static struct module *look_up(struct sc_symbols *symbols, const char *path, const char *build_id)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, path);
    sc_digest_word(&digester, build_id ? build_id : "?");
    struct sc_digest digest = sc_digest_end(&digester);
    struct sc_node *node = sc_table_find(&symbols->table, &digest);
    if (node)
        return (struct module *)(void *)node;
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->node.digest = digest;
    module->path = strdup(path);
    module->build_id = build_id ? strdup(build_id) : NULL;
    if (!module->path || (build_id && !module->build_id) ||
        !sc_table_add(&symbols->table, &module->node)) {
        free_module(module);
        return NULL;
    }
    module->next = symbols->modules;
    symbols->modules = module;
    return module;
}

/* Is it this build of the module? */
static bool is_module(const struct module *module, const char *path, const char *build_id)
{
    if (!module || strcmp(module->path, path) != 0)
        return false;
    return module->build_id && build_id ? strcmp(module->build_id, build_id) == 0
                                        : module->build_id == build_id;
}

/* Finds the build of the module, trying the last one found first: frames of one module mostly
 * follow each other. */
static struct module *find_module(struct sc_symbols *symbols, const char *path,
                                  const char *build_id)
{
    if (!is_module(symbols->last, path, build_id))
        symbols->last = look_up(symbols, path, build_id);
    return symbols->last;
}

/* Adds a folder in which debug files are sought first. */
bool sc_symbols_add_folder(struct sc_symbols *symbols, const char *folder)
{
    char *folders = NULL;
    if (strchr(folder, ':') || asprintf(&folders, "%s:%s", folder, symbols->folders) < 0)
        return false;
    free(symbols->folders);
    symbols->folders = folders;
    return true;
}

/* Notes whose report is read. Only for one process is perf's map of functions made at run time
 * used: addresses of several would mix. */
void sc_symbols_expect_process(struct sc_symbols *symbols, int64_t pid)
{
    symbols->several = symbols->several || (symbols->pid != 0 && symbols->pid != pid);
    symbols->pid = symbols->several ? 0 : pid;
}

/* ---- processes ---- */

/* Ends the child that reads the module. */
static void end_process(struct sc_symbols *symbols, struct module *module)
{
    size_t i = 0;
    while (i < symbols->living_count && symbols->living[i] != module)
        i++;
    if (i < symbols->living_count)
        symbols->living[i] = symbols->living[--symbols->living_count];
    sc_symbolizer_end(module->symbolizer);
    module->symbolizer = NULL;
}

/* Returns the child that was asked longest ago: it is ended when there are too many. */
static struct module *asked_longest_ago(const struct sc_symbols *symbols)
{
    struct module *oldest = symbols->living[0];
    for (size_t i = 1; i < symbols->living_count; i++)
        if (symbols->living[i]->asked < oldest->asked)
            oldest = symbols->living[i];
    return oldest;
}

/* Returns how much memory the children take, in all. */
static uint64_t taken_bytes(const struct sc_symbols *symbols)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < symbols->living_count; i++)
        sum += sc_symbolizer_taken_bytes(symbols->living[i]->symbolizer);
    return sum;
}

/* Ends the children that were asked longest ago until the others have taken little enough memory.
 * The one that was asked last goes on. */
static void end_oldest(struct sc_symbols *symbols)
{
    while (symbols->living_count > 1 && taken_bytes(symbols) > TAKEN_MAX_BYTES)
        end_process(symbols, asked_longest_ago(symbols));
}

/* Starts the child that reads the module, if there is a file to read. Most modules of a report that
 * is read elsewhere are not there, and want no process. */
static bool start_process(struct sc_symbols *symbols, struct module *module)
{
    const struct sc_module_sought sought = {module->path, module->build_id, symbols->folders};
    if (symbols->are_given_up || !sc_debug_files_may_be_there(&sought))
        return false;
    if (symbols->living_count == LIVING_MAX)
        end_process(symbols, asked_longest_ago(symbols));
    module->symbolizer = sc_symbolizer_start(&sought, symbols->notes);
    while (!module->symbolizer && symbols->living_count > 0) { /* this system takes fewer */
        end_process(symbols, asked_longest_ago(symbols));
        module->symbolizer = sc_symbolizer_start(&sought, symbols->notes);
    }
    if (module->symbolizer) {
        symbols->living[symbols->living_count++] = module;
        return true;
    }
    sc_say("cannot start a process that reads symbols (%s): modules are shown without names",
           strerror(errno));
    symbols->are_given_up = true;
    return false;
}

/* ---- questions ---- */

/* Adds up how long reading took. Once that is too long, no more modules are read. */
static void note_cost(struct sc_symbols *symbols, int64_t spent_ns, bool is_lost)
{
    symbols->spent_ns += spent_ns;
    symbols->lost_ns += is_lost ? spent_ns : 0;
    bool is_too_much = symbols->spent_ns > SPENT_MAX_NS || symbols->lost_ns > LOST_MAX_NS;
    if (is_too_much && !symbols->are_given_up)
        sc_say("reading modules has taken %d s, and damaged ones %d s of that: those that are not "
               "read yet are shown without names",
               (int)(symbols->spent_ns / 1000000000), (int)(symbols->lost_ns / 1000000000));
    symbols->are_given_up = symbols->are_given_up || is_too_much;
}

/* Returns whether the module's names are longer than any real ones, and prints a message then: they
 * would fill the memory of this process. */
static bool are_too_long(const struct sc_symbols *symbols, const struct module *module)
{
    if (symbols->answer_bytes < ANSWER_BYTES_MAX + symbols->answers * ANSWER_BYTES_EACH)
        return false;
    sc_say("%s: modules have named functions and files with more than 64 MB of words; it is shown "
           "without further names",
           module->path);
    return true;
}

/* Are source lines to be found for this module? Says once if this build cannot. */
static bool wants_lines(struct sc_symbols *symbols, const struct module *module, bool with_lines)
{
    if (with_lines && !sc_source_lines_are_known() && !symbols->told_of_lines) {
        sc_say("source lines are not shown: the command was built without libdw (Debian's package "
               "is libdw-dev)");
        symbols->told_of_lines = true;
    }
    return with_lines && !module->without_lines;
}

/* Records what a question has cost, and whether the module can still be asked for lines, or for
 * anything. */
static void judge(struct sc_symbols *symbols, struct module *module,
                  enum sc_symbolizer_outcome outcome, int64_t cost_ns)
{
    bool is_lost = outcome == SC_SYMBOLIZER_LOST || outcome == SC_SYMBOLIZER_LOST_LINES;
    note_cost(symbols, cost_ns, is_lost);
    module->without_lines = module->without_lines || is_lost;
    module->is_unknown = outcome == SC_SYMBOLIZER_KNOWS_NOTHING || outcome == SC_SYMBOLIZER_LOST ||
                         are_too_long(symbols, module);
    end_oldest(symbols);
}

/* Who takes answers. */
struct taker {
    struct sc_symbols *symbols;
    struct module *module;
    size_t count;
};

/* Keeps an answer that came for a later question (a callback). */
static void take_answer(void *whom, uint64_t offset, const char *bytes, size_t size)
{
    struct taker *taker = whom;
    taker->symbols->answer_bytes += size;
    taker->symbols->answers++;
    taker->count++;
    sc_answers_ahead_put(&taker->module->answers, offset, bytes, size);
}

/* Is the answer about this address there already? Then it is taken. */
static bool find_answer(struct sc_symbols *symbols, struct module *module, uint64_t offset)
{
    size_t size = 0;
    const char *bytes = sc_answers_ahead_take(&module->answers, offset, &size);
    return bytes && sc_symbol_answer_take(bytes, size, &symbols->answer);
}

/* Asks the module's child. Returns false if no answer came although the module can still be asked.
 */
static bool ask(struct sc_symbols *symbols, struct module *module, uint64_t offset, bool with_lines)
{
    struct taker taker = {symbols, module, 0};
    uint64_t offsets[SC_SYMBOLIZER_OFFSETS_MAX];
    int64_t cost_ns = sc_symbolizer_cost_ns(module->symbolizer);
    size_t count =
        sc_answers_ahead_question(&module->answers, offset, offsets, SC_SYMBOLIZER_OFFSETS_MAX);
    enum sc_symbolizer_outcome outcome =
        sc_symbolizer_ask(module->symbolizer, offsets, count,
                          wants_lines(symbols, module, with_lines), take_answer, &taker);
    module->asked = ++symbols->questions;
    while (--count > 0 && count >= taker.count)
        sc_answers_ahead_announce(&module->answers, offsets[count]);
    judge(symbols, module, outcome, sc_symbolizer_cost_ns(module->symbolizer) - cost_ns);
    if (find_answer(symbols, module, offset))
        return true;
    if (outcome == SC_SYMBOLIZER_LOST_LINES)
        symbols->answer.name = sc_symbolizer_name_alone(module->symbolizer);
    return module->is_unknown || symbols->answer.name;
}

/* Returns the name of a function that a just-in-time compiler has made in the process. */
static const char *name_made_at_run_time(struct sc_symbols *symbols, uint64_t address)
{
    if (symbols->pid != 0 && !symbols->made_at_run_time)
        symbols->made_at_run_time = sc_perf_map_open(symbols->pid);
    if (!symbols->made_at_run_time)
        symbols->pid = 0;
    return symbols->pid != 0 ? sc_perf_map_find(symbols->made_at_run_time, address) : NULL;
}

/* Is there a child that reads the module? Starts it if need be. A process that has ended is kept
 * for its last answer until the next question. */
static bool has_process(struct sc_symbols *symbols, struct module *module)
{
    if (module->symbolizer && sc_symbolizer_has_ended(module->symbolizer))
        end_process(symbols, module);
    return module->symbolizer || start_process(symbols, module);
}

/* Asks the module's child; if lines are what it fails at, without lines. */
static void ask_module(struct sc_symbols *symbols, struct module *module, uint64_t offset,
                       bool with_lines)
{
    if (!has_process(symbols, module))
        module->is_unknown = true;
    else if (!ask(symbols, module, offset, with_lines) && has_process(symbols, module))
        ask(symbols, module, offset, false);
    if (module->is_unknown)
        end_process(symbols, module);
}

/* Notes that this address will be asked for, so that it is answered together with others. */
void sc_symbols_announce(struct sc_symbols *symbols, const char *path, const char *build_id,
                         uint64_t offset)
{
    struct module *module = offset != 0 ? find_module(symbols, path, build_id) : NULL;
    if (module && !module->is_unknown)
        sc_answers_ahead_announce(&module->answers, offset);
}

/* Returns the name and places of an address; they live until the next call. */
const struct sc_symbol_answer *sc_symbols_find(struct sc_symbols *symbols, const char *path,
                                               const char *build_id, uint64_t offset,
                                               bool with_lines)
{
    struct module *module = path && offset != 0 ? find_module(symbols, path, build_id) : NULL;
    symbols->answer.name = NULL;
    symbols->answer.place_count = 0;
    if (!path && offset != 0)
        symbols->answer.name = name_made_at_run_time(symbols, offset);
    else if (module && !find_answer(symbols, module, offset) && !module->is_unknown)
        ask_module(symbols, module, offset, with_lines);
    return &symbols->answer;
}
