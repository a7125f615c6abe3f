#define _GNU_SOURCE 1
#include "report/command/baseline.h"
#include "report/command/command.h"
#include "report/command/filter.h"
#include "report/command/flags.h"
#include "report/command/formats/formats.h"
#include "report/command/given_reports.h"
#include "report/command/model.h"
#include "report/command/outfile.h"
#include "report/command/progress.h"
#include "report/command/reader.h"
#include "report/command/say.h"
#include "report/command/suggest.h"
#include "report/command/suppressed.h"
#include "report/nearest.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the flags ask for, and what the work is done with. */
struct work {
    const struct sc_format *format;
    struct sc_outfile_place out;
    struct sc_filter *filter;
    struct sc_baseline *baseline; /* NULL: none is asked for */
    const char **baseline_paths;  /* up to a NULL */
    size_t baseline_count;
    struct sc_frame_makers makers;
    struct sc_namings namings;
    struct sc_source_roots *roots; /* the caller's */
    struct sc_excerpts *excerpts;
    struct sc_suppressed *suppressed; /* NULL: none are asked for */
    struct sc_reader reader;
    struct sc_model model;
};

/* ---- reading ---- */

/* Reads the reports that were named. Returns false if one could not be read whole. */
static bool read_all(struct work *work, char *const *paths)
{
    work->reader.symbols = work->makers.symbols;
    work->reader.brief = work->format->is_brief;
    return sc_given_reports_read(&work->reader, paths);
}

/* Reads all reports of the baseline, also after one that fails. Returns whether all could be
 * read. */
static bool read_baseline(struct work *work)
{
    bool readable = true;
    for (size_t i = 0; i < work->baseline_count; i++)
        readable =
            sc_baseline_add(work->baseline, work->baseline_paths[i], &work->makers) && readable;
    return readable;
}

/* ---- writing ---- */

/* Appends a summary where the CI's environment asks for one (as GITHUB_STEP_SUMMARY). Returns false
 * if it cannot be written. */
static bool append_summary(struct work *work)
{
    const char *path =
        work->format->summary_variable ? getenv(work->format->summary_variable) : NULL;
    FILE *out = path && path[0] != '\0' ? sc_outfile_append(path) : NULL;
    if (!path || path[0] == '\0')
        return true;
    if (!out) {
        sc_say("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    work->format->write_summary(out, &work->model);
    return fclose(out) == 0;
}

/* Writes the report in its format. Prints a message and returns false if it cannot be written. */
static bool write_all(struct work *work)
{
    struct sc_outfile file;
    if (!sc_outfile_open(&file, &work->out))
        return false;
    work->format->write(file.stream, &work->model);
    sc_progress_hide();
    return sc_outfile_close(&file) && append_summary(work);
}

/* Chooses the exit status by what was found: with a baseline only what is new counts, with
 * suppressions only what is open, with a filter only what it takes, and else every hazard that is
 * no advisory. */
static int found_status(const struct work *work)
{
    if (work->baseline)
        return work->model.new_count > 0 ? SC_COMMAND_NEW : 0;
    if (work->suppressed)
        return work->model.open_count > 0 ? SC_COMMAND_FOUND : 0;
    bool found = work->filter ? work->model.count > 0 : work->reader.hazardous;
    return found ? SC_COMMAND_FOUND : 0;
}

/* Prints what a comparison with the baseline leaves open. */
static void tell_partial(const struct work *work)
{
    if (sc_baseline_is_partial(work->baseline))
        sc_say("a run of the baseline did not end normally, or lines of it are missing: what it "
               "lacks is called new, and nothing fixed");
    else if (sc_reader_is_partial(&work->reader))
        sc_say("a run did not end normally, or lines of it are missing: nothing is called fixed, "
               "and there may be more that is new");
}

enum { OPEN_TOLD_MAX = 8 };

/* Prints which modules could not be compared with the baseline. */
static void tell_open(struct work *work)
{
    size_t count = work->model.open_module_count;
    for (size_t i = 0; i < count && i < OPEN_TOLD_MAX; i++)
        sc_say("not compared with the baseline: %s", sc_model_open_words(&work->model, i));
    if (count > OPEN_TOLD_MAX)
        sc_say("not compared with the baseline: %zu more modules", count - OPEN_TOLD_MAX);
}

/* Says of a hazard that is in the baseline, but at fewer places, that one of its places may be
 * new. `count`: how many were told; only the first ones are. */
static void tell_grown(void *count, const char *title, size_t now, size_t before)
{
    if (++*(size_t *)count <= OPEN_TOLD_MAX)
        sc_say("unchanged, but at %zu places here and %zu in the baseline, so one may be new: %s",
               now, before, title);
}

/* Prints which unchanged hazards are at more places than before. */
static void tell_all_grown(const struct work *work)
{
    size_t count = 0;
    sc_baseline_each_grown(work->baseline, tell_grown, &count);
    if (count > OPEN_TOLD_MAX)
        sc_say("unchanged, but at more places than in the baseline: %zu more",
               count - OPEN_TOLD_MAX);
}

/* May hazards that count as unchanged be other ones? They may in a module without a build id,
 * since nobody can tell whether it is the same build. */
static bool may_have_changed(const struct sc_model *model)
{
    for (size_t i = 0; i < model->open_module_count; i++)
        if (sc_namings_lack_id(&model->open[i]))
            return true;
    return false;
}

/* Returns why a report in which nothing was found cannot be called clean; "": a message has said
 * it already. NULL: it can. */
static const char *doubt_of(const struct work *work)
{
    const struct sc_reader *reader = &work->reader;
    bool chooses = work->baseline || work->suppressed || work->filter;
    if (reader->unread)
        return "what could not be read may tell of hazards";
    if (reader->untold && chooses)
        return "a summary counts hazards of which no line tells, so none can be chosen or be known "
               "to be fixed";
    if (reader->incomplete)
        return "a run did not end normally; what else there was is not known";
    bool is_open =
        work->baseline && (sc_reader_is_partial(reader) || may_have_changed(&work->model));
    return is_open ? "" : NULL;
}

/* Returns the exit status. If nothing was found, but something may be missing (because lines could
 * not be read, for example), that is not a success, and a message says why. */
static int status_of(const struct work *work)
{
    int found = found_status(work);
    const char *doubt = found == 0 ? doubt_of(work) : NULL;
    if (!doubt)
        return found;
    if (doubt[0] != '\0')
        sc_say("%s", doubt);
    return SC_COMMAND_USAGE;
}

/* Reads the reports, selects what is to be shown, and writes it. Returns the exit status. */
static int show(struct work *work, char *const *paths)
{
    if (!read_baseline(work))
        return SC_COMMAND_USAGE;
    bool readable = read_all(work, paths);
    bool made = sc_model_init(&work->model, &work->reader, work->makers, work->excerpts);
    work->model.suppressed = work->suppressed;
    if (made)
        sc_model_select(&work->model, work->filter, work->baseline);
    bool written = made && write_all(work);
    sc_excerpts_tell_hidden(work->excerpts);
    if (work->baseline) {
        tell_partial(work);
        tell_open(work);
        if (work->model.knows_fixed)
            tell_all_grown(work);
    }
    return readable && written ? status_of(work) : SC_COMMAND_USAGE;
}

/* ---- flags ---- */

/* Returns whether there is such a format, and prints a message if not. */
bool sc_command_has_format(const char *name)
{
    char names[256] = "";
    if (sc_formats_find(name))
        return true;
    for (unsigned i = 0; sc_formats_name(i); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? ", " : "",
                 sc_formats_name(i));
    sc_say("there is no format '%s'; did you mean '%s'? It takes %s", name,
           sc_nearest_word(name, strlen(name), sc_formats_name), names);
    return false;
}

/* Takes the value of --format. Returns 0, or the status of wrong usage. */
static int take_format(struct work *work, const char *name)
{
    work->format = sc_formats_find(name);
    return sc_command_has_format(name) ? 0 : SC_COMMAND_USAGE;
}

/* Handles --suggest-suppressions, which writes suppressions in place of the report and so is no
 * format. */
static int take_suggestions(struct work *work)
{
    static const struct sc_format suggestions = {
        .name = "suppressions", .write = sc_suggest_suppressions, .is_brief = true};
    work->format = &suggestions;
    return 0;
}

/* Takes the value of --filter, which may be given once. Returns 0, or the status of wrong
 * usage. */
static int take_filter(struct work *work, const char *text)
{
    if (work->filter) {
        sc_say("--filter is there twice: commas separate terms that all have to hold");
        return SC_COMMAND_USAGE;
    }
    work->filter = sc_filter_parse(text);
    return work->filter ? 0 : SC_COMMAND_USAGE;
}

/* Reads the file of --suppressions and says which entries have expired. The output must not
 * overwrite that file. */
static int take_suppressions(struct work *work, const char *path)
{
    sc_suppressed_free(work->suppressed);
    work->suppressed = sc_suppressed_read(path);
    if (!work->suppressed)
        return SC_COMMAND_USAGE;
    sc_suppressed_tell_expired(work->suppressed);
    sc_outfile_keep(path);
    return 0;
}

/* Notes one report of the baseline. They are read after all flags, since others change how. */
static int take_baseline(struct work *work, const char *path)
{
    if (!work->baseline)
        work->baseline = sc_baseline_new();
    work->baseline_paths[work->baseline_count++] = path;
    return work->baseline ? 0 : SC_COMMAND_USAGE;
}

/* Takes the two `memory` lines that --between compares. Returns 0, or the status of wrong
 * usage. */
static int take_between(struct work *work, const char *text)
{
    if (sc_memory_between_read(&work->reader.between, text))
        return 0;
    sc_say("--between takes two lines about memory, by number or by the time since the first: 3,7 "
           "or 90s,10m; and not %s",
           text);
    return SC_COMMAND_USAGE;
}

/* Adds a folder of debug files. It is made absolute, as libdw takes a relative one to be below the
 * folder of the module. */
static int take_folder(struct work *work, const char *path)
{
    char *folder = realpath(path, NULL);
    bool added = folder && sc_symbols_add_folder(work->makers.symbols, folder);
    if (!added)
        sc_say("--debug-dir cannot take %s: %s", path,
               folder ? "there is a colon in the path" : strerror(errno));
    free(folder);
    return added ? 0 : SC_COMMAND_USAGE;
}

/* Takes one OLD=NEW of --path-map, by which paths of another machine become paths here. */
static int take_path_change(struct work *work, const char *change)
{
    if (sc_path_map_add(&work->makers.paths, change))
        return 0;
    sc_say("--path-map takes OLD=NEW, and not %s", change);
    return SC_COMMAND_USAGE;
}

/* Handles one flag, by its letter. Returns 0, or the status of a wrong one. */
static int take_flag(struct work *work, int flag)
{
    switch (flag) {
    case 'j':
        return take_format(work, "json");
    case 'f':
        return take_format(work, optarg);
    case 'o':
        work->out.path = optarg;
        return 0;
    case 'm':
        return sc_outfile_take_mode(&work->out, optarg) ? 0 : SC_COMMAND_USAGE;
    case 'e':
        return take_filter(work, optarg);
    case 'b':
        return take_baseline(work, optarg);
    case 'w':
        return take_between(work, optarg);
    case 'u':
        return take_suppressions(work, optarg);
    case 's':
        return take_suggestions(work);
    case 'r':
        sc_outfile_keep(optarg);
        return sc_frame_rules_read(work->makers.rules, optarg) < 0 ? SC_COMMAND_USAGE : 0;
    case 'd':
        return take_folder(work, optarg);
    case 'p':
        return take_path_change(work, optarg);
    case 't':
        return sc_source_roots_add(work->roots, optarg) ? 0 : SC_COMMAND_USAGE;
    case 'g':
        work->reader.merges = true;
        return 0;
    default:
        return SC_COMMAND_USAGE;
    }
}

/* Takes all flags, and refuses combinations that make no sense. Returns 0, or the status of wrong
 * usage. */
static int take_flags(struct work *work, int argc, char **argv)
{
    int flag, status = 0;
    while (status == 0 && (flag = sc_flags_next(argc, argv)) != -1)
        status = take_flag(work, flag);
    if (status == 0 && work->out.path && !sc_outfile_is_possible(work->out.path))
        return SC_COMMAND_USAGE;
    if (status == 0 && !sc_outfile_has_use_of_mode(&work->out))
        return SC_COMMAND_USAGE;
    if (status == 0 && optind == argc) {
        sc_say("which report? name a file; see safecopy help report");
        return SC_COMMAND_USAGE;
    }
    if (status == 0 && work->reader.merges && work->format->is_by_process) {
        sc_say("--format %s shows each process by itself, and --merged makes one of all",
               work->format->name);
        return SC_COMMAND_USAGE;
    }
    return status;
}

/* ---- the whole ---- */

/* Sets up what reading and showing need. Returns false if memory runs out or the user's rules are
 * wrong. */
static bool prepare(struct work *work, struct sc_source_roots *roots, int argc)
{
    work->format = sc_formats_find("text");
    work->makers.with_lines = true;
    work->makers.symbols = sc_symbols_new();
    work->makers.namings = &work->namings;
    work->makers.rules = sc_frame_rules_new();
    work->roots = roots;
    work->excerpts = sc_excerpts_new(roots);
    work->baseline_paths = calloc((size_t)argc + 1, sizeof *work->baseline_paths);
    return work->makers.symbols && work->makers.rules && work->excerpts && work->baseline_paths &&
           sc_frame_rules_read_own(work->makers.rules) == 0;
}

/* Frees all that the command has made. The model comes first: what it shows lies in the others'
 * memory. */
static void clean_up(struct work *work)
{
    sc_model_free(&work->model);
    sc_reader_free(&work->reader);
    sc_namings_free(&work->namings);
    sc_filter_free(work->filter);
    sc_baseline_free(work->baseline);
    sc_suppressed_free(work->suppressed);
    sc_path_map_free(&work->makers.paths);
    free(work->baseline_paths);
    sc_excerpts_free(work->excerpts);
    sc_frame_rules_free(work->makers.rules);
    sc_symbols_free(work->makers.symbols);
}

/* Runs `safecopy report`: takes the flags, then reads and shows the reports. */
int sc_command_report(int argc, char **argv)
{
    struct work work = {0};
    struct sc_source_roots roots = {0};
    int status = prepare(&work, &roots, argc) ? take_flags(&work, argc, argv) : SC_COMMAND_USAGE;
    if (status == 0)
        status = show(&work, argv + optind);
    clean_up(&work);
    sc_source_roots_free(&roots);
    return status;
}

/* Shows reports as `safecopy report` does, for other commands. Returns the exit status. */
int sc_command_show(const char *format, const struct sc_outfile_place *out,
                    struct sc_source_roots *roots, char *const *paths)
{
    struct work work = {0};
    int status = prepare(&work, roots, 0) ? take_format(&work, format) : SC_COMMAND_USAGE;
    work.out = *out;
    if (status == 0)
        status = show(&work, paths);
    clean_up(&work);
    return status;
}
