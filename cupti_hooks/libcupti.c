#include "cupti_hooks/libcupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/objects.h"
#include "common/text.h"

#include "common/poison.h"

enum { RUNTIMES_MAX = 16, CUDA_11_MINOR_MAX = 8 };

#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)

/* A library that the process has loaded. */
struct place {
    char path[PATH_MAX];
    const void *inside; /* an address in it */
};

/* The libraries of CUDA that the process has loaded. */
struct loaded {
    struct place cupti;     /* libcupti; its path is "" if it is not loaded */
    struct place *runtimes; /* CUDA libraries, one of each folder; NULL: not wanted */
    unsigned count;
};

/* Is the file one of CUDA's libraries, beside which libcupti may lie? */
static bool is_cuda_library(const char *name)
{
    return strncmp(name, "libcudart", 9) == 0 || strncmp(name, "libcublas", 9) == 0 ||
           strncmp(name, "libnvrtc", 8) == 0 || strncmp(name, "libcudnn", 8) == 0 ||
           strncmp(name, "libnccl", 7) == 0 || strncmp(name, "libcufft", 8) == 0;
}

/* Notes the path of a loaded library, and an address in it, by which a relative path is resolved.
 */
static void note_place(struct place *place, const struct dl_phdr_info *info)
{
    strcpy(place->path, info->dlpi_name);
    place->inside = info->dlpi_phdr;
}

/* Notes a CUDA library, unless one of the same folder is noted: each folder is searched once.
 * Relative paths may mean the same or different folders, so all are noted. `folder`: the length of
 * the folder's name in the path. */
static void note_runtime(struct loaded *loaded, const struct dl_phdr_info *info, size_t folder)
{
    for (unsigned i = 0; info->dlpi_name[0] == '/' && i < loaded->count; i++)
        if (strncmp(loaded->runtimes[i].path, info->dlpi_name, folder) == 0 &&
            !strchr(loaded->runtimes[i].path + folder, '/'))
            return;
    if (loaded->count < RUNTIMES_MAX)
        note_place(&loaded->runtimes[loaded->count++], info);
}

/* A visitor of loaded objects: notes libcupti, and other CUDA libraries if these are wanted.
 * Returns 0, so that all are visited. The program has no path. */
static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!slash || strlen(info->dlpi_name) >= PATH_MAX)
        return 0;
    if (strncmp(slash + 1, "libcupti.so", 11) == 0)
        note_place(&loaded->cupti, info);
    else if (loaded->runtimes && is_cuda_library(slash + 1))
        note_runtime(loaded, info, (size_t)(slash + 1 - info->dlpi_name));
    return 0;
}

/* Returns a handle of the loaded libcupti, by the name that the loader has for it; NULL: none is
 * loaded. */
static void *open_loaded(const struct loaded *loaded)
{
    return loaded->cupti.path[0] ? dlopen(loaded->cupti.path, LOAD_FLAGS | RTLD_NOLOAD) : NULL;
}

/* Returns a handle of the libcupti that the process has loaded; NULL: none. */
void *sc_libcupti_find_loaded(void)
{
    struct loaded loaded = {.runtimes = NULL};
    sc_objects_visit(note_object, &loaded);
    return open_loaded(&loaded);
}

struct search {
    const struct sc_libcupti_search *by;
    struct sc_libcupti *found;
    const struct loaded *loaded;
    char name[32]; /* name of the file */
};

/* Notes for the user that a folder was not searched since it is relative. `variable`: the
 * environment variable that names it, with '='; "" for a loaded library. A variable is read for
 * each version of libcupti, and noted once. */
static void pass_over(struct sc_libcupti *found, const char *variable, const char *path)
{
    size_t used = strlen(found->passed_over);
    if (variable[0] && strstr(found->passed_over, variable))
        return;
    struct sc_text words = sc_text_in(found->passed_over + used, sizeof found->passed_over - used);
    sc_text_format(&words, "%s%s%s", used ? " " : "", variable, path);
}

/* Sets the name of the file that is searched for: `stem` and a version. */
static void set_file_name(struct search *search, const char *stem, int number)
{
    struct sc_text name = sc_text_in(search->name, sizeof search->name);
    sc_text_format(&name, "%s%lu", stem, (uint64_t)number);
}

/* Opens the file in folder/below, if it is readable there; its path stays in search->found. NULL:
 * it is not there. A path that is too long counts as none. */
static void *try_in(const struct search *search, const char *folder, const char *below)
{
    struct sc_text path = sc_text_in(search->found->path, sizeof search->found->path);
    sc_text_format(&path, "%s%s%s", folder, below, search->name);
    return path.cut || access(path.bytes, R_OK) != 0 ? NULL
                                                     : search->by->open(path.bytes, LOAD_FLAGS);
}

/* Searches the folders that a toolkit of NVIDIA's installer, its wheels or conda has below `root`.
 * NULL: not found. */
static void *try_toolkit(const struct search *search, const char *root)
{
    static const char *const below[] = {
        "/extras/CUPTI/lib64/",     "/lib64/", "/targets/x86_64-linux/lib/",
        "/targets/sbsa-linux/lib/", "/lib/",   "/",
    };
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof below / sizeof below[0]; i++)
        found = try_in(search, root, below[i]);
    return found;
}

/* Searches the toolkit that an environment variable names (`root`, its value, or NULL). A relative
 * folder is only noted: it would mean another one as soon as the program changes its folder. */
static void *try_named(const struct search *search, const char *variable, const char *root)
{
    if (!root || !root[0])
        return NULL;
    if (root[0] == '/')
        return try_toolkit(search, root);
    pass_over(search->found, variable, root);
    return NULL;
}

/* Searches beside a CUDA library that the program uses: in its folder (a toolkit's, or the wheels'
 * of CUDA 13), in the toolkit's extras, and in CUPTI's own wheel. `folder` "": not known. */
static void *try_beside(const struct search *search, const char *folder)
{
    static const char *const below[] = {
        "/",
        "/../extras/CUPTI/lib64/",
        "/../../../extras/CUPTI/lib64/",
        "/../../cuda_cupti/lib/",
        "/../../cu13/lib/",
    };
    void *found = NULL;
    for (size_t i = 0; folder[0] && !found && i < sizeof below / sizeof below[0]; i++)
        found = try_in(search, folder, below[i]);
    return found;
}

/* Searches the loader's path, and notes the path of what it finds. */
static void *try_loader(const struct search *search)
{
    void *found = search->by->open(search->name, LOAD_FLAGS);
    struct link_map *map;
    struct sc_text path = sc_text_in(search->found->path, sizeof search->found->path);
    if (found && dlinfo(found, RTLD_DI_LINKMAP, &map) == 0)
        sc_text_put(&path, map->l_name);
    return found;
}

/* Searches for the file in all places, in the order of cupti_hooks/libcupti.h. */
static void *search_for(const struct search *search)
{
    const struct loaded *loaded = search->loaded;
    void *found = try_named(search, "CUPTI_PATH=", getenv("CUPTI_PATH"));
    found = found ? found : try_named(search, "CUPTI_HOME=", getenv("CUPTI_HOME"));
    for (unsigned i = 0; !found && i < loaded->count; i++)
        found = try_beside(search, loaded->runtimes[i].path);
    found = found ? found : try_loader(search);
    found = found ? found : try_named(search, "CUDA_HOME=", getenv("CUDA_HOME"));
    found = found ? found : try_named(search, "CUDA_PATH=", getenv("CUDA_PATH"));
    return found ? found : try_toolkit(search, "/usr/local/cuda");
}

/* Searches for the libcupti of a major version of CUDA: the file's name ends with that number. For
 * CUDA 11 it has the minor one as well, of which the highest is taken. */
static void *search_major(struct search *search, int major)
{
    void *found = NULL;
    if (major != 11) {
        set_file_name(search, "libcupti.so.", major);
        return search_for(search);
    }
    for (int minor = CUDA_11_MINOR_MAX; !found && minor >= 0; minor--) {
        set_file_name(search, "libcupti.so.11.", minor);
        found = search_for(search);
    }
    return found;
}

/* Makes the path of a loaded library absolute. False: that is not possible any more, and its folder
 * is noted as not searched. */
static bool find_path(const struct search *search, struct place *place)
{
    char *found = search->found->path;
    if (place->path[0] == '/')
        return true;
    if (search->by->find_path(place->inside, found, PATH_MAX)) {
        strcpy(place->path, found);
        return true;
    }
    pass_over(search->found, "", place->path);
    return false;
}

/* Replaces the paths of the noted CUDA libraries by their folders; "" if a folder is not known. */
static void find_folders(const struct search *search, struct loaded *loaded)
{
    for (unsigned i = 0; i < loaded->count; i++) {
        struct place *place = &loaded->runtimes[i];
        char *end = find_path(search, place) ? strrchr(place->path, '/') : place->path;
        *end = '\0';
    }
}

/* Finds and opens libcupti: the loaded one, since two copies would each assume to be alone; else
 * each version in the order of `majors`. Notes its path for the report. Look-ups that failed have
 * set dlerror(), which is cleared. */
void sc_libcupti_find(const struct sc_libcupti_search *by, struct sc_libcupti *found)
{
    static struct place runtimes[RUNTIMES_MAX];
    struct loaded loaded = {.runtimes = runtimes};
    struct search search = {.by = by, .found = found, .loaded = &loaded};
    found->passed_over[0] = '\0';
    sc_objects_visit(note_object, &loaded);
    found->handle = open_loaded(&loaded);
    if (!found->handle)
        find_folders(&search, &loaded);
    for (const int *major = by->majors; !found->handle && *major; major++)
        found->handle = search_major(&search, *major);
    if (!found->handle)
        found->path[0] = '\0';
    else if (loaded.cupti.path[0] && !by->find_path(loaded.cupti.inside, found->path, PATH_MAX))
        strcpy(found->path, loaded.cupti.path);
    dlerror();
}
