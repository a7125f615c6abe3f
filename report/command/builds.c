#define _GNU_SOURCE 1
#include "report/command/builds.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a run shares builds with none: so much time a run may cost. */
enum { COMPARED_MAX = 64 };

/* The build of a module. */
struct sc_build {
    struct sc_node node;
    struct sc_build *next;
    char *build_id; /* NULL: not known */
    bool is_several;
    char path[];
};

/* Returns the key by which the module at the path is found. */
static struct sc_digest digest_of(const char *path)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, path);
    return sc_digest_end(&digester);
}

/* Returns the build of the module with this digest of its path, in one list; NULL: none is
 * noted. */
static struct sc_build *find(const struct sc_builds *builds, const struct sc_digest *digest)
{
    return (struct sc_build *)(void *)sc_table_find(&builds->table, digest);
}

/* Adds the build to the table and at the end of the list, so that the order is that of the report.
 * False: no memory. */
static bool add(struct sc_builds *builds, struct sc_build *build)
{
    if (!sc_table_add(&builds->table, &build->node))
        return false;
    build->next = NULL;
    *(builds->last ? &builds->last->next : &builds->first) = build;
    builds->last = build;
    return true;
}

static void free_build(struct sc_build *build)
{
    free(build->build_id);
    free(build);
}

/* Frees one record of builds; NULL does nothing. */
static void free_builds(struct sc_builds *builds)
{
    while (builds && builds->first) {
        struct sc_build *build = builds->first;
        builds->first = build->next;
        free_build(build);
    }
    if (builds)
        sc_table_free(&builds->table);
    free(builds);
}

/* Frees the builds of all runs, and those of the run that is being read. */
void sc_builds_free(struct sc_builds_list *list)
{
    while (list->first) {
        struct sc_builds *builds = list->first;
        list->first = builds->next;
        free_builds(builds);
    }
    free_builds(list->run);
    *list = (struct sc_builds_list){0};
}

/* ---- the run that is being read ---- */

/* Returns the present process's entry for the module at the path, added if there is none; NULL: no
 * memory. */
static struct sc_build *find_or_add(struct sc_builds_list *list, const char *path)
{
    struct sc_digest digest = digest_of(path);
    if (!list->run)
        list->run = calloc(1, sizeof *list->run);
    struct sc_build *build = list->run ? find(list->run, &digest) : NULL;
    if (build || !list->run)
        return build;
    build = calloc(1, sizeof *build + strlen(path) + 1);
    if (!build)
        return NULL;
    build->node.digest = digest;
    strcpy(build->path, path);
    if (add(list->run, build))
        return build;
    free(build);
    return NULL;
}

/* Records with which build id a run has loaded the file. With several of them it is not one build.
 */
void sc_builds_note(struct sc_builds_list *list, const char *path, const char *build_id)
{
    struct sc_build *build = find_or_add(list, path);
    char *both = NULL;
    if (!build || build->is_several)
        return;
    if (!build->build_id) {
        build->build_id = strdup(build_id);
    } else if (strcmp(build->build_id, build_id) != 0 &&
               asprintf(&both, "%s+%s", build->build_id, build_id) >= 0) {
        free(build->build_id);
        build->build_id = both;
        build->is_several = true;
    }
}

/* Notes that a frame of the present run lies in this module, whether the run's lists name the
 * module's build or not. */
void sc_builds_note_use(struct sc_builds_list *list, const char *path)
{
    find_or_add(list, path);
}

/* ---- those of several runs ---- */

/* Are the two build ids the same? NULL, for a build that is not known, is only equal to NULL. */
static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Are both lists of builds the same, for what both have? The program comes first in a run, and
 * differs most often. */
static bool agree(const struct sc_builds *builds, const struct sc_builds *run)
{
    for (const struct sc_build *build = run->first; build; build = build->next) {
        const struct sc_build *known = find(builds, &build->node.digest);
        if (known && !is_same(known->build_id, build->build_id))
            return false;
    }
    return true;
}

/* Takes those that agree out of the list. Returns NULL if none do. */
static struct sc_builds *take_agreeing(struct sc_builds_list *list)
{
    struct sc_builds **at = &list->first;
    for (size_t i = 0; *at && i < COMPARED_MAX; at = &(*at)->next, i++) {
        struct sc_builds *builds = *at;
        if (!agree(builds, list->run))
            continue;
        *at = builds->next;
        return builds;
    }
    return NULL;
}

/* Moves to `builds` those builds of the run that it does not have yet. */
static void join(struct sc_builds *builds, struct sc_builds *run)
{
    while (run->first) {
        struct sc_build *build = run->first;
        run->first = build->next;
        if (find(builds, &build->node.digest) || !add(builds, build))
            free_build(build);
    }
    free_builds(run);
}

/* Returns the builds that the run had: a list of an earlier run if that had the same, else a new
 * one. Those of the last run are the first, since the next run is likely to have them too. */
const struct sc_builds *sc_builds_end_run(struct sc_builds_list *list)
{
    struct sc_builds *builds = list->run ? take_agreeing(list) : NULL;
    if (!list->run)
        return NULL;
    if (builds) {
        join(builds, list->run);
    } else {
        builds = list->run;
        builds->number = ++list->count;
    }
    list->run = NULL;
    builds->next = list->first;
    list->first = builds;
    return builds;
}

/* Returns the build id that the module had in this process; NULL: not known. */
const char *sc_builds_find(const struct sc_builds *builds, const char *path)
{
    struct sc_digest digest = digest_of(path);
    const struct sc_build *build = builds ? find(builds, &digest) : NULL;
    return build ? build->build_id : NULL;
}
