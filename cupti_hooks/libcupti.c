#include "cupti_hooks/libcupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "track/text.h"

#include "track/poison.h"

enum { FOLDERS_MAX = 16, CUDA_11_MINOR_MAX = 8 };

#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)

struct place {
    char bytes[PATH_MAX];
};

/* What is loaded of CUDA. */
struct loaded {
    char *cupti; /* its path, "" without one */
    size_t size;
    struct place *folders;
    unsigned folder_count;
};

static bool is_cuda_library(const char *name)
{
    return strncmp(name, "libcudart", 9) == 0 || strncmp(name, "libcublas", 9) == 0 ||
           strncmp(name, "libnvrtc", 8) == 0 || strncmp(name, "libcudnn", 8) == 0 ||
           strncmp(name, "libnccl", 7) == 0 || strncmp(name, "libcufft", 8) == 0;
}

static void note_folder(struct loaded *loaded, const char *path, size_t length)
{
    if (loaded->folder_count == FOLDERS_MAX || length == 0 || length >= PATH_MAX)
        return;
    for (unsigned i = 0; i < loaded->folder_count; i++)
        if (strncmp(loaded->folders[i].bytes, path, length) == 0 &&
            loaded->folders[i].bytes[length] == '\0')
            return;
    struct place *folder = &loaded->folders[loaded->folder_count++];
    memcpy(folder->bytes, path, length);
    folder->bytes[length] = '\0';
}

static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!slash)
        return 0;
    if (strncmp(slash + 1, "libcupti.so", 11) == 0 && strlen(info->dlpi_name) < loaded->size)
        strcpy(loaded->cupti, info->dlpi_name);
    else if (loaded->folders && is_cuda_library(slash + 1))
        note_folder(loaded, info->dlpi_name, (size_t)(slash - info->dlpi_name));
    return 0;
}

static void look_around(struct loaded *loaded, char *path, size_t size, struct place *folders)
{
    *loaded = (struct loaded){.cupti = path, .size = size, .folders = folders};
    path[0] = '\0';
    dl_iterate_phdr(note_object, loaded);
}

void *sc_libcupti_find_loaded(char *path, size_t size)
{
    struct loaded loaded;
    look_around(&loaded, path, size, NULL);
    return path[0] ? dlopen(path, LOAD_FLAGS | RTLD_NOLOAD) : NULL;
}

struct search {
    char name[32]; /* the file's */
    char *path;
    size_t size;
};

static void name_version(struct search *search, const char *stem, int number)
{
    struct sc_text name;
    sc_text_init(&name, search->name, sizeof search->name);
    sc_text_put(&name, stem);
    sc_text_decimal(&name, (uint64_t)number);
}

static void *try_in(const struct search *search, const char *folder, const char *below)
{
    struct sc_text path;
    sc_text_init(&path, search->path, search->size);
    sc_text_put(&path, folder);
    sc_text_put(&path, below);
    sc_text_put(&path, search->name);
    return path.cut || access(search->path, R_OK) != 0 ? NULL : dlopen(search->path, LOAD_FLAGS);
}

/* As NVIDIA's installer, its wheels and conda lay a toolkit out. */
static void *try_toolkit(const struct search *search, const char *root)
{
    static const char *const below[] = {
        "/extras/CUPTI/lib64/",     "/lib64/", "/targets/x86_64-linux/lib/",
        "/targets/sbsa-linux/lib/", "/lib/",   "/",
    };
    void *found = NULL;
    for (size_t i = 0; root && root[0] && !found && i < sizeof below / sizeof below[0]; i++)
        found = try_in(search, root, below[i]);
    return found;
}

/* Beside a CUDA library: in its own folder (a toolkit's, or the wheels' of CUDA 13), in the
 * toolkit's extras, and in the wheel that has it to itself. */
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
    for (size_t i = 0; !found && i < sizeof below / sizeof below[0]; i++)
        found = try_in(search, folder, below[i]);
    return found;
}

static void *try_loader(const struct search *search)
{
    void *found = dlopen(search->name, LOAD_FLAGS);
    struct link_map *map;
    struct sc_text path;
    sc_text_init(&path, search->path, search->size);
    if (found && dlinfo(found, RTLD_DI_LINKMAP, &map) == 0)
        sc_text_put(&path, map->l_name);
    return found;
}

static void *search_for(const struct search *search, const struct loaded *loaded)
{
    void *found = try_toolkit(search, getenv("CUPTI_PATH"));
    found = found ? found : try_toolkit(search, getenv("CUPTI_HOME"));
    for (unsigned i = 0; !found && i < loaded->folder_count; i++)
        found = try_beside(search, loaded->folders[i].bytes);
    found = found ? found : try_loader(search);
    found = found ? found : try_toolkit(search, getenv("CUDA_HOME"));
    found = found ? found : try_toolkit(search, getenv("CUDA_PATH"));
    return found ? found : try_toolkit(search, "/usr/local/cuda");
}

/* libcupti.so.13 and libcupti.so.12, but libcupti.so.11.8. */
static void *search_major(struct search *search, const struct loaded *loaded, int major)
{
    void *found = NULL;
    if (major != 11) {
        name_version(search, "libcupti.so.", major);
        return search_for(search, loaded);
    }
    for (int minor = CUDA_11_MINOR_MAX; !found && minor >= 0; minor--) {
        name_version(search, "libcupti.so.11.", minor);
        found = search_for(search, loaded);
    }
    return found;
}

void *sc_libcupti_find(const int *majors, char *path, size_t size)
{
    static struct place folders[FOLDERS_MAX];
    struct search search = {.path = path, .size = size};
    struct loaded loaded;
    look_around(&loaded, path, size, folders);
    void *found = path[0] ? dlopen(path, LOAD_FLAGS | RTLD_NOLOAD) : NULL;
    for (; !found && *majors; majors++)
        found = search_major(&search, &loaded, *majors);
    if (!found)
        path[0] = '\0';
    dlerror();
    return found;
}
