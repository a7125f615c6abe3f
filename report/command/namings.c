#define _GNU_SOURCE 1
#include "report/command/namings.h"

#include <stdlib.h>
#include <string.h>

/* So long may a search for one take. */
enum { BUILDS_MAX = 64 };

/* Returns the key by which a module is found, from its file's name alone: a module is the same
 * wherever it is installed. */
static struct sc_digest digest_of(const char *path)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, basename(path));
    return sc_digest_end(&digester);
}

/* Are the two build ids the same? NULL: not known. */
static bool is_build(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* ---- what there is ---- */

static void free_naming(struct sc_naming *naming)
{
    free(naming->build_id);
    free(naming->path);
    free(naming);
}

/* Frees all modules with their builds. */
void sc_namings_free(struct sc_namings *namings)
{
    while (namings->first) {
        struct sc_module_naming *module = namings->first;
        namings->first = module->next;
        while (module->builds) {
            struct sc_naming *naming = module->builds;
            module->builds = naming->next;
            free_naming(naming);
        }
        free(module);
    }
    sc_table_free(&namings->table);
    *namings = (struct sc_namings){0};
}

/* Returns the module with this digest of its path; NULL: none. */
static struct sc_module_naming *find_module(const struct sc_namings *namings,
                                            const struct sc_digest *digest)
{
    return (struct sc_module_naming *)(void *)sc_table_find(&namings->table, digest);
}

/* Returns the module with this path, added if it is new; NULL: no memory. */
static struct sc_module_naming *find_or_add_module(struct sc_namings *namings, const char *path)
{
    struct sc_digest digest = digest_of(path);
    struct sc_module_naming *module = find_module(namings, &digest);
    if (module)
        return module;
    module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->node.digest = digest;
    if (!sc_table_add(&namings->table, &module->node)) {
        free(module);
        return NULL;
    }
    *(namings->last ? &namings->last->next : &namings->first) = module;
    namings->last = module;
    return module;
}

/* Adds a build of the module. NULL: no memory. */
static struct sc_naming *add_naming(struct sc_module_naming *module, const char *path,
                                    const char *build_id)
{
    struct sc_naming *naming = calloc(1, sizeof *naming);
    if (!naming)
        return NULL;
    naming->path = strdup(path);
    naming->build_id = build_id ? strdup(build_id) : NULL;
    if (!naming->path || (build_id && !naming->build_id)) {
        free_naming(naming);
        return NULL;
    }
    naming->next = module->builds;
    module->builds = naming;
    module->count++;
    return naming;
}

/* Returns the record of one build of the module; beyond a number of builds they share one. Returns
 * NULL if memory runs out. */
struct sc_naming *sc_namings_find(struct sc_namings *namings, const char *path,
                                  const char *build_id)
{
    struct sc_module_naming *module = find_or_add_module(namings, path);
    struct sc_naming *naming = module ? module->builds : NULL;
    while (naming && !(is_build(naming->build_id, build_id) && strcmp(naming->path, path) == 0))
        naming = naming->next;
    if (naming || !module)
        return naming;
    if (module->count > BUILDS_MAX)
        return module->builds;
    return add_naming(module, path, module->count < BUILDS_MAX ? build_id : NULL);
}

/* ---- two sides ---- */

/* Have frames of this build offsets only, and no names? They are the same in no other build. */
static bool is_only_offsets(const struct sc_naming *naming)
{
    return naming->has_offsets && !naming->has_names && !naming->has_guesses;
}

/* Can it not be told whether the module is the same build in the baseline and here, as neither has
 * an id? */
bool sc_namings_lack_id(const struct sc_open_module *open)
{
    const char *old = open->old->build_id, *new = open->new->build_id;
    return is_build(old, new) && !(old && old[0] != '\0');
}

/* Is it impossible to compare the hazards in these two builds of a module? Functions that are
 * known by name on both sides can be compared. Functions known by offset only can be compared in
 * the same build, but not with functions that are known by name. Names from a file that may be
 * another build count no more than offsets. */
static bool is_open(const struct sc_open_module *open)
{
    const struct sc_naming *old = open->old, *new = open->new;
    if (!sc_naming_has_any(old) || !sc_naming_has_any(new))
        return false;
    if (sc_namings_lack_id(open))
        return old->has_offsets || old->has_guesses || new->has_offsets;
    if (!is_build(old->build_id, new->build_id))
        return old->has_offsets || new->has_offsets;
    return (is_only_offsets(old) && !new->has_offsets) ||
           (is_only_offsets(new) && !old->has_offsets);
}

/* Finds two builds of the module whose hazards cannot be compared. */
static bool find_open(const struct sc_module_naming *old, const struct sc_module_naming *new,
                      struct sc_open_module *open)
{
    for (open->new = new->builds; open->new; open->new = open->new->next)
        for (open->old = old->builds; open->old; open->old = open->old->next)
            if (is_open(open))
                return true;
    return false;
}

/* Lists the modules whose hazards cannot be compared, since their functions have no names and the
 * builds differ. */
struct sc_open_module *sc_namings_compare(const struct sc_namings *old,
                                          const struct sc_namings *new, size_t *count)
{
    struct sc_open_module *all = calloc(new->table.count + 1, sizeof *all);
    *count = 0;
    for (const struct sc_module_naming *module = new->first; all &&module; module = module->next) {
        const struct sc_module_naming *known = find_module(old, &module->node.digest);
        if (known && find_open(known, module, &all[*count]))
            ++*count;
    }
    return all;
}

/* ---- words ---- */

/* Returns in words which build it is. */
static const char *words_of_build(struct sc_scratch *scratch, const struct sc_naming *naming)
{
    if (!naming->build_id)
        return "a build that is not known";
    if (naming->build_id[0] == '\0')
        return "a build without an id";
    return sc_scratch_print(scratch, "build %s", naming->build_id);
}

/* Returns words for the side, or sides, on which functions have no names. */
static const char *whose(const struct sc_open_module *open)
{
    if (open->old->has_offsets && open->new->has_offsets)
        return "both";
    return open->old->has_offsets ? "the baseline's build" : "the build here";
}

/* Returns why a module cannot be compared, and what helps, in words. */
const char *sc_namings_open_words(struct sc_scratch *scratch, const struct sc_open_module *open)
{
    const char *path = open->new->path;
    if (sc_namings_lack_id(open))
        return sc_scratch_print(
            scratch,
            "%s has no build id that is known, here or in the baseline: nobody can tell whether "
            "it is one build, so hazards in it may be called new or unchanged by chance, and "
            "nothing is called fixed; link it with -Wl,--build-id, or keep as the baseline what "
            "--format json writes while the build is there",
            path);
    return sc_scratch_print(
        scratch,
        "%s is %s here and %s in the baseline; functions of %s have no names, so hazards in them "
        "cannot be compared: they are called new%s, and nothing is called fixed; keep as the "
        "baseline what --format json writes while the build is there, or keep its file, not "
        "stripped, by its build id in a folder for --debug-dir",
        path, words_of_build(scratch, open->new), words_of_build(scratch, open->old), whose(open),
        open->old->has_offsets ? " unless the baseline has them by name as well" : "");
}
