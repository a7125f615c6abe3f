#define _GNU_SOURCE 1
#include "report/libraries.h"

#include "common/checks.h"
#include "common/objects.h"
#include "common/own_pages.h"
#include "common/text.h"
#include "report/file.h"
#include "report/mapped_file.h"
#include "report/needed.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "common/poison.h"

/* ---- where a module lies ---- */

/* Returns the loader's record of the module that the address lies in, or NULL. */
static struct link_map *module_of(const void *address)
{
    Dl_info where;
    struct link_map *found = NULL;
    return dladdr1(address, &where, (void **)&found, RTLD_DL_LINKMAP) ? found : NULL;
}

/* Does the path lead to the file of the loaded module? After chroot, or when a file was replaced,
 * it may lead to another one, which must not be opened. With RTLD_NOLOAD the loader compares files
 * and loads none. */
static bool leads_to(const char *path, const struct link_map *module)
{
    struct link_map *found = NULL;
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    bool is_it = handle && dlinfo(handle, RTLD_DI_LINKMAP, (void *)&found) == 0 && found == module;
    if (handle)
        dlclose(handle);
    return is_it;
}

/* Stores the file from which the module with this address was loaded. The loader keeps a relative
 * name, which leads nowhere after chdir, so that module is looked up in /proc/self/maps. */
bool sc_libraries_find_path(const void *address, char *path, size_t size)
{
    const struct link_map *module = module_of(address);
    if (!module)
        return false;
    if (module->l_name[0] != '/')
        return sc_mapped_file_find((uintptr_t)address, path, size) && leads_to(path, module);
    struct sc_text text = sc_text_in(path, size);
    sc_text_put(&text, module->l_name);
    return !text.cut;
}

/* ---- the loader's search ---- */

/* The folders in which the loader searches libraries for our module. */
struct search {
    Dl_serinfo *folders; /* NULL: unknown */
    size_t bytes;
};

/* Asks the loader which folders it searches for a library that this module opens. The loader takes
 * the module's record for a handle of dlopen's, so nothing has to be opened. `folders` is NULL if
 * it does not answer. */
static struct search begin_search(void)
{
    Dl_serinfo size;
    struct search search = {NULL, 0};
    void *us = module_of((const void *)begin_search);
    if (!us || dlinfo(us, RTLD_DI_SERINFOSIZE, &size) != 0)
        return search;
    search.bytes = size.dls_size;
    search.folders = sc_pages_map(search.bytes);
    if (search.folders && (dlinfo(us, RTLD_DI_SERINFOSIZE, search.folders) != 0 ||
                           dlinfo(us, RTLD_DI_SERINFO, search.folders) != 0)) {
        sc_pages_unmap(search.folders, search.bytes);
        search.folders = NULL;
    }
    return search;
}

/* Frees the list of folders; NULL is allowed. */
static void end_search(const struct search *search)
{
    sc_pages_unmap(search->folders, search->bytes);
}

/* Is the folder absolute? A relative one is below the working folder of the moment, where anybody
 * may have put a library. */
static bool is_absolute(const Dl_serinfo *folders, unsigned index)
{
    return folders->dls_serpath[index].dls_name[0] == '/';
}

/* Are all folders that the loader searches absolute? Then dlopen itself can be used. */
static bool are_absolute(const Dl_serinfo *folders)
{
    unsigned i = 0;
    while (i < folders->dls_cnt && is_absolute(folders, i))
        i++;
    return i == folders->dls_cnt;
}

/* Is the folder listed before? The loader lists the program's run path twice: as that of the
 * object that opened us, and as the program's. */
static bool is_repeated(const Dl_serinfo *folders, unsigned index)
{
    unsigned i = 0;
    while (strcmp(folders->dls_serpath[i].dls_name, folders->dls_serpath[index].dls_name) != 0)
        i++;
    return i < index;
}

/* Appends the relative folders that the library does not search, each once, for `safecopy doctor`:
 * a library that lies only there is not found. */
void sc_libraries_put_passed_over(struct sc_text *text)
{
    struct search search = begin_search();
    size_t before = text->used;
    for (unsigned i = 0; search.folders && i < search.folders->dls_cnt; i++) {
        if (is_absolute(search.folders, i) || is_repeated(search.folders, i))
            continue;
        sc_text_format(text, "%s%s", text->used > before ? " " : "",
                       search.folders->dls_serpath[i].dls_name);
    }
    end_search(&search);
}

/* ---- in place of the loader's search ----
 *
 * The loader searches its folders, relative ones included, for what a library needs, unless that is
 * loaded already. So everything that a library needs is opened first, from absolute folders. */

enum { DEPTH_MAX = 6 };

/* A library that is being opened, with what it needs, and what that needs. */
struct opening {
    const Dl_serinfo *folders;
    int flags;
    unsigned depth; /* of needs; an index into the arrays */
    char paths[DEPTH_MAX][PATH_MAX];
    char names[DEPTH_MAX][NAME_MAX + 1];
};

static void *open_path(struct opening *opening, const char *path);

/* Opens the library from this folder, after what it needs. Returns NULL if it is not there, or the
 * needs are nested deeper than DEPTH_MAX: each depth has a path of its own, as the outer ones are
 * still used. */
static void *open_in(struct opening *opening, const char *folder, size_t length, const char *name)
{
    if (opening->depth == DEPTH_MAX)
        return NULL;
    struct sc_text path = sc_text_in(opening->paths[opening->depth], PATH_MAX);
    sc_text_bytes(&path, folder, length);
    sc_text_format(&path, "/%s", name);
    return path.cut ? NULL : open_path(opening, path.bytes);
}

/* Opens the library from the first of the loader's absolute folders that has it, as the loader
 * would; relative folders are passed over. */
static void *open_name(struct opening *opening, const char *name)
{
    void *found = NULL;
    for (unsigned i = 0; !found && i < opening->folders->dls_cnt; i++) {
        const char *folder = opening->folders->dls_serpath[i].dls_name;
        if (is_absolute(opening->folders, i))
            found = open_in(opening, folder, strlen(folder), name);
    }
    return found;
}

/* Returns the address that a dynamic entry (of an ELF file) holds. The loader has added the
 * module's base to these entries, except in the kernel's vDSO, which cannot be written to: there
 * it is added here. */
static const char *pointer_to(const struct dl_phdr_info *object, uintptr_t address)
{
    uintptr_t place = address < object->dlpi_addr ? object->dlpi_addr + address : address;
    return (const char *)place; // NOLINT: the loader gives addresses as numbers
}

/* Returns the object's table of dynamic entries (names, needs), or NULL if it has none. */
static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* What has_name compares with. */
struct sought {
    const char *name;
};

/* Visits one loaded object (for sc_objects_visit): returns whether its DT_SONAME is the name
 * sought. The loader opens no second library for a need of that name. */
static int has_name(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct sought *sought = context;
    const char *strings = NULL;
    const ElfW(Dyn) *own = NULL;
    (void)size;
    for (const ElfW(Dyn) *entry = dynamic_of(object); entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = pointer_to(object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SONAME)
            own = entry;
    }
    return strings && own && strcmp(strings + own->d_un.d_val, sought->name) == 0;
}

/* Is a library of this name loaded, so that the loader will not search for it? */
static bool is_loaded(const char *name)
{
    struct sought sought = {name};
    return sc_objects_visit(has_name, &sought) != 0;
}

/* Makes sure that the library `name` is loaded before `needed_by`, which needs it: the loader
 * would search relative folders for it. The library may lie in a folder of the loader's, or beside
 * the one that needs it, where a run path of $ORIGIN finds it. A need with a '/' is a path, which
 * counts only if absolute. */
static bool open_needed(struct opening *opening, const char *name, const char *needed_by)
{
    const char *slash = strrchr(needed_by, '/');
    if (is_loaded(name))
        return true;
    if (strchr(name, '/'))
        return name[0] == '/' && open_path(opening, name);
    return (open_name(opening, name) ||
            open_in(opening, needed_by, (size_t)(slash - needed_by), name)) &&
           is_loaded(name);
}

/* Opens everything that the library at `path` needs, before it is opened itself. Returns false if
 * something is not found, or the needs are nested deeper than DEPTH_MAX: then the library must not
 * be opened either. */
static bool open_all_needed(struct opening *opening, const char *path)
{
    int fd = opening->depth < DEPTH_MAX ? sc_file_open(path) : -1;
    char *name = opening->names[opening->depth];
    int result = fd;
    SC_ASSERT(opening->depth < DEPTH_MAX || fd < 0);
    opening->depth++;
    for (unsigned i = 0; fd >= 0; i++) {
        result = sc_needed_read(fd, i, name, sizeof opening->names[0]);
        if (result <= 0 || !open_needed(opening, name, path))
            break;
    }
    SC_ASSERT(opening->depth > 0);
    opening->depth--;
    sc_file_close(fd);
    return result == 0;
}

/* Opens the library at an absolute path, after all that it needs: dlopen then finds nothing left
 * to search for. */
static void *open_path(struct opening *opening, const char *path)
{
    return open_all_needed(opening, path) ? dlopen(path, opening->flags) : NULL;
}

/* Opens `name` where dlopen cannot be used, since some of the loader's folders are relative; these
 * are not looked into. The struct is too large for the stacks of some threads, so it is mapped. */
static void *open_past_relative(const Dl_serinfo *folders, const char *name, int flags)
{
    struct opening *opening = sc_pages_map(sizeof *opening);
    void *library = NULL;
    if (!opening)
        return NULL;
    opening->folders = folders;
    opening->flags = flags;
    if (name[0] == '/')
        library = open_path(opening, name);
    else if (is_loaded(name))
        library = dlopen(name, flags);
    else
        library = open_name(opening, name);
    sc_pages_unmap(opening, sizeof *opening);
    return library;
}

/* ---- opening ---- */

/* Opens the library as dlopen would, but never from a relative folder, where anybody may have put
 * one. A relative path is refused for the same reason. NULL also if the loader's folders are
 * unknown. */
void *sc_libraries_open(const char *name, int flags)
{
    void *library = NULL;
    if (name[0] != '/' && strchr(name, '/'))
        return NULL;
    struct search search = begin_search();
    if (search.folders && are_absolute(search.folders))
        library = dlopen(name, flags);
    else if (search.folders)
        library = open_past_relative(search.folders, name, flags);
    end_search(&search);
    return library;
}

/* Opens a file of the folder that this library was loaded from: what is installed with it. */
void *sc_libraries_open_beside_us(const char *file, int flags)
{
    char path[PATH_MAX];
    if (!sc_libraries_find_path((const void *)sc_libraries_open_beside_us, path, sizeof path))
        return NULL;
    size_t folder = (size_t)(strrchr(path, '/') - path) + 1;
    if (folder + strlen(file) >= sizeof path)
        return NULL;
    strcpy(path + folder, file);
    return sc_libraries_open(path, flags);
}
