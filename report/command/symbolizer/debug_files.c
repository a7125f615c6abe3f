#define _GNU_SOURCE 1
#include "report/command/symbolizer/debug_files.h"

#include "report/command/elf_tables.h"
#include "report/command/say.h"
#include "report/command/symbolizer/debuginfod.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a file that is tried ---- */

/* What it has to be. */
struct wanted {
    const char *build_id; /* "": known by the checksum */
    uint32_t checksum;
    const struct sc_elf_file *module; /* in which it is not; may be NULL */
};

/* Is it the file that is searched for: does it have the build id or the checksum, and what the
 * module lacks? */
static bool is_wanted(const struct sc_elf_file *file, const struct wanted *wanted)
{
    if (wanted->build_id[0] != '\0' ? strcmp(file->build_id, wanted->build_id) != 0
                                    : !sc_elf_file_has_checksum(file, wanted->checksum))
        return false;
    return !wanted->module || (!sc_elf_file_is_same(file, wanted->module) &&
                               (sc_elf_file_has_debug_info(file) || sc_elf_file_has_symbols(file)));
}

/* Opens the file if it is the wanted one. */
static bool open_path(struct sc_elf_file *file, const struct wanted *wanted, const char *path)
{
    if (sc_elf_file_open(file, path) && is_wanted(file, wanted))
        return true;
    sc_elf_file_close(file);
    return false;
}

/* Opens the file at the path that the format makes, if it is the one wanted. False: it is not
 * there, or another. */
__attribute__((format(printf, 3, 4))) static bool
open_at(struct sc_elf_file *file, const struct wanted *wanted, const char *format, ...)
{
    char path[PATH_MAX];
    va_list words;
    va_start(words, format);
    int length = vsnprintf(path, sizeof path, format, words);
    va_end(words);
    return length >= 0 && length < (int)sizeof path && open_path(file, wanted, path);
}

/* ---- by the build id ---- */

/* Can files be sought by this build id: is it known, hexadecimal, and of a length that one has? */
static bool have_id(const char *build_id)
{
    return build_id && strlen(build_id) >= 4 && strlen(build_id) < SC_ELF_FILE_ID_SIZE &&
           build_id[strspn(build_id, "0123456789abcdef")] == '\0';
}

/* Where a file may be in a folder: by its id, and under the module's path and name. False: there is
 * no such place, or its path is too long. */
enum { BY_ID_WITH_NAMES, BY_ID, BY_PATH, BY_NAME, PLACES };

/* Makes path number `place` at which a folder of debug files may have the file. Returns false if
 * there is no such path. */
static bool put_place(char *path, int place, const char *folder, const char *id, const char *module)
{
    int length = -1;
    if (place <= BY_ID)
        length = snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s%s", folder, id, id + 2,
                          place == BY_ID ? "" : ".debug");
    else if (place == BY_NAME || module[0] == '/')
        length = snprintf(path, PATH_MAX, "%s%s%s", folder, place == BY_NAME ? "/" : "",
                          place == BY_NAME ? basename(module) : module);
    return length >= 0 && length < PATH_MAX;
}

/* Looks for the file in one folder, at all places that are usual. */
static bool open_in(struct sc_elf_file *file, const struct wanted *wanted, const char *folder,
                    const char *module)
{
    char path[PATH_MAX];
    for (int place = 0; place < PLACES; place++)
        if (put_place(path, place, folder, wanted->build_id, module) &&
            open_path(file, wanted, path))
            return true;
    return false;
}

/* Is the file in this folder? Looks without opening it. */
static bool is_in(struct sc_elf_file *file, const struct wanted *wanted, const char *folder,
                  const char *module)
{
    char path[PATH_MAX];
    (void)file;
    for (int place = 0; place < PLACES; place++)
        if (put_place(path, place, folder, wanted->build_id, module) && access(path, F_OK) == 0)
            return true;
    return false;
}

typedef bool open_in_folder(struct sc_elf_file *file, const struct wanted *wanted,
                            const char *folder, const char *name);

/* Looks in one folder after another. */
static bool open_in_any(struct sc_elf_file *file, const struct wanted *wanted, const char *folders,
                        open_in_folder *open, const char *name)
{
    char *copy = strdup(folders), *rest = copy;
    bool found = false;
    for (const char *folder; !found && copy && (folder = strsep(&rest, ":")) != NULL;)
        found = folder[0] == '/' && open(file, wanted, folder, name);
    free(copy);
    return found;
}

/* Is there any file that names could be read from? Called before a process is started to read
 * it. */
bool sc_debug_files_may_be_there(const struct sc_module_sought *sought)
{
    const struct wanted wanted = {.build_id = sought->build_id};
    struct stat status;
    return (sought->path[0] == '/' && stat(sought->path, &status) == 0 &&
            !S_ISDIR(status.st_mode)) ||
           (have_id(sought->build_id) &&
            open_in_any(NULL, &wanted, sought->folders, is_in, sought->path));
}

/* Opens the module that ran: at its path if that is still the same build, else by its build id. */
bool sc_debug_files_open_module(struct sc_elf_file *file, const struct sc_module_sought *sought)
{
    const struct wanted wanted = {.build_id = sought->build_id};
    bool is_there = sc_elf_file_open(file, sought->path);
    if (is_there && (!sought->build_id || strcmp(sought->build_id, file->build_id) == 0))
        return true;
    sc_elf_file_close(file);
    if (have_id(sought->build_id) &&
        open_in_any(file, &wanted, sought->folders, open_in, sought->path))
        return true;
    if (is_there)
        sc_say("%s is not the build that ran (%s%s); its names are not used", sought->path,
               sought->build_id[0] != '\0' ? "build id " : "no build id", sought->build_id);
    return false;
}

/* ---- by the link in the module ---- */

struct link {
    const char *name;
    uint32_t checksum;
};

/* Reads which debug file the module names, and its check sum. Returns false if it names none. */
static bool read_link(const struct sc_elf_file *module, struct link *link)
{
    size_t size = 0, end;
    Elf_Scn *section = sc_elf_file_section(module, ".gnu_debuglink");
    link->name = section ? sc_elf_tables_bytes(section, &size) : NULL;
    end = link->name ? strnlen(link->name, size) : 0;
    size_t at = (end + 4) & ~(size_t)3; /* behind the NUL, aligned */
    if (end == 0 || at + sizeof link->checksum > size)
        return false;
    memcpy(&link->checksum, link->name + at, sizeof link->checksum);
    return true;
}

/* Opens the file in a folder of debug files that has the module's own folders below it, of which
 * the outer ones may be left out. */
static bool open_below(struct sc_elf_file *file, const struct wanted *wanted, const char *folder,
                       const char *name)
{
    const char *path = wanted->module->path;
    for (const char *at = path; at; at = strchr(at + 1, '/')) {
        const char *last = strrchr(at, '/');
        if (open_at(file, wanted, "%s%.*s/%s", folder, (int)(last - at), at, name))
            return true;
    }
    return false;
}

/* Opens the debug file that the module names. */
static bool open_linked(struct sc_elf_file *file, const struct wanted *wanted, const char *folders,
                        const char *name)
{
    const char *path = wanted->module->path;
    int length = (int)(strrchr(path, '/') - path);
    if (name[0] == '/')
        return open_at(file, wanted, "%s", name);
    return open_at(file, wanted, "%.*s/%s", length, path, name) ||
           open_at(file, wanted, "%.*s/.debug/%s", length, path, name) ||
           open_in_any(file, wanted, folders, open_below, name);
}

/* Opens the debug file that the module names in .gnu_debuglink. If the module names none but has a
 * build id, tries the module's name followed by ".debug". */
static bool open_by_link(struct sc_elf_file *file, const struct sc_elf_file *module,
                         const char *folders)
{
    char invented[NAME_MAX + 1];
    struct link link;
    struct wanted wanted = {.build_id = module->build_id, .module = module};
    if (read_link(module, &link)) {
        wanted.checksum = link.checksum;
        return open_linked(file, &wanted, folders, link.name);
    }
    int length = snprintf(invented, sizeof invented, "%s.debug", basename(module->path));
    return module->build_id[0] != '\0' && length < (int)sizeof invented &&
           open_linked(file, &wanted, folders, invented);
}

/* Opens the debug file that the module names, sought beside the module, or beside the file that its
 * path leads to. The link may have been made for the file that the module's path leads to. */
static bool open_by_real_link(struct sc_elf_file *file, const struct sc_elf_file *module,
                              const char *folders)
{
    struct sc_elf_file real = *module;
    if (open_by_link(file, module, folders))
        return true;
    real.path = realpath(module->path, NULL);
    bool found =
        real.path && strcmp(real.path, module->path) != 0 && open_by_link(file, &real, folders);
    free(real.path);
    return found;
}

/* Fetches the file from a server, if the user has configured one. */
static bool open_served(struct sc_elf_file *file, const struct wanted *wanted)
{
    char *path = have_id(wanted->build_id) ? sc_debuginfod_fetch(wanted->build_id) : NULL;
    bool found = path && open_at(file, wanted, "%s", path);
    free(path);
    return found;
}

/* Opens the file with the names or lines that the module itself lacks. */
bool sc_debug_files_open_debug(struct sc_elf_file *file, const struct sc_elf_file *module,
                               const struct sc_module_sought *sought)
{
    const struct wanted wanted = {.build_id = module->build_id, .module = module};
    bool has_id = have_id(module->build_id);
    return (has_id && open_in_any(file, &wanted, sought->folders, open_in, sought->path)) ||
           open_by_real_link(file, module, sought->folders) ||
           (!sc_elf_file_has_debug_info(module) && open_served(file, &wanted));
}

/* ---- what dwz has taken out of several files ---- */

/* Looks for an alternate debug file (dwz's, which several share) below the folder. */
static bool open_alternate_in(struct sc_elf_file *file, const struct wanted *wanted,
                              const char *folder, const char *name)
{
    const char *id = wanted->build_id;
    return open_at(file, wanted, "%s/.build-id/%.2s/%s.debug", folder, id, id + 2) ||
           open_at(file, wanted, "%s/.dwz/%s", folder, basename(name));
}

/* Opens the shared debug file by the name that this one has for it. A relative name begins at the
 * folder in which the debug file really is. */
static bool open_alternate_named(struct sc_elf_file *file, const struct wanted *wanted,
                                 const struct sc_elf_file *debug, const char *name)
{
    char *real = name[0] == '/' ? NULL : realpath(debug->path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    bool found = slash ? open_at(file, wanted, "%.*s/%s", (int)(slash - real), real, name)
                       : open_at(file, wanted, "%s", name);
    free(real);
    return found;
}

/* Opens the file that several debug files share, and this one refers to. */
bool sc_debug_files_open_alternate(struct sc_elf_file *file, const struct sc_elf_file *debug,
                                   const struct sc_module_sought *sought)
{
    char id[SC_ELF_FILE_ID_SIZE];
    size_t size = 0;
    struct wanted wanted = {.build_id = id};
    Elf_Scn *section = sc_elf_file_section(debug, ".gnu_debugaltlink");
    const char *name = section ? sc_elf_tables_bytes(section, &size) : NULL;
    size_t end = name ? strnlen(name, size) : 0;
    *file = (struct sc_elf_file){.fd = -1};
    if (end == 0 || end == size)
        return false;
    sc_elf_file_put_id(id, name + end + 1, size - end - 1);
    return have_id(id) &&
           (open_in_any(file, &wanted, sought->folders, open_alternate_in, name) ||
            open_alternate_named(file, &wanted, debug, name) || open_served(file, &wanted));
}
