#define _GNU_SOURCE 1
#include "report/command/doctor/program_file.h"

#include "report/command/regular_file.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- where it is ---- */

/* Is it a regular file that may be run? */
static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Finds the program in PATH as execvp does: the first file that can be run, or else the first that
 * exists. */
static const char *find_in_path(struct sc_scratch *scratch, const char *name)
{
    const char *folders = getenv("PATH"), *there = NULL;
    if (!folders)
        folders = "/bin:/usr/bin";
    for (size_t length; *name; folders += length + 1) {
        length = strcspn(folders, ":");
        const char *path = sc_scratch_print(scratch, "%.*s%s%s", (int)length, folders,
                                            length > 0 ? "/" : "", name);
        if (is_program(path))
            return path;
        if (!there && access(path, F_OK) == 0)
            there = path;
        if (folders[length] == '\0')
            break;
    }
    return there;
}

/* Returns the program's path: as it is with a '/', or else as found in PATH. */
static const char *find(struct sc_scratch *scratch, const char *program)
{
    return strchr(program, '/') ? program : find_in_path(scratch, program);
}

/* ---- whether it gets other rights ---- */

/* Does the file give its process capabilities? A program without rights of its own to gain may have
 * an empty set. */
static bool has_capabilities(int fd)
{
    struct vfs_ns_cap_data data = {0};
    ssize_t size = fgetxattr(fd, "security.capability", &data, sizeof data);
    if (size < (ssize_t)sizeof(struct vfs_cap_data))
        return false;
    return data.data[0].permitted != 0 || data.data[1].permitted != 0;
}

/* Notes which rights the program's file would give its process: the loader ignores LD_PRELOAD for
 * a process with more rights than its caller. On a file system mounted nosuid, or for a process
 * that may gain none, the file gives none. */
static void note_rights(struct sc_file_facts *file, int fd, const struct stat *status)
{
    struct statvfs system;
    if ((fstatvfs(fd, &system) == 0 && system.f_flag & ST_NOSUID) ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return;
    file->changes_user = status->st_mode & S_ISUID && status->st_uid != getuid();
    file->changes_group =
        status->st_mode & S_ISGID && status->st_mode & S_IXGRP && status->st_gid != getgid();
    file->has_capabilities = getuid() != 0 && has_capabilities(fd);
}

/* ---- scripts ---- */

/* What the kernel reads of the first line. */
enum { LINE_BYTES = 256 };

/* Cuts the next word off the text. Returns NULL if there is none. */
static char *take_word(char **text)
{
    char *word = *text + strspn(*text, " \t");
    size_t length = strcspn(word, " \t");
    *text = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word[0] != '\0' ? word : NULL;
}

/* Returns the program that env runs, in the first line of a script: "env python3", "env -S python3
 * -u", "env A=1 python3". */
static const char *find_behind_env(struct sc_scratch *scratch, char *arguments)
{
    char *word;
    while ((word = take_word(&arguments)))
        if (word[0] != '-' && !strchr(word, '='))
            return find_in_path(scratch, word) ?: sc_scratch_print(scratch, "%s", word);
    return NULL;
}

/* Returns what runs the script: the interpreter, or what env finds. */
static const char *read_script(struct sc_file_facts *file, struct sc_scratch *scratch, char *line)
{
    line += strspn(line, " \t");
    line[strcspn(line, "\n")] = '\0';
    file->kind = SC_FILE_SCRIPT;
    file->interpreter = sc_scratch_print(scratch, "%s", line);
    char *interpreter = take_word(&line);
    if (!interpreter)
        return NULL;
    const char *through_env = strcmp(basename(interpreter), "env") == 0 && is_program(interpreter)
                                  ? find_behind_env(scratch, line)
                                  : NULL;
    return through_env ? through_env : sc_scratch_print(scratch, "%s", interpreter);
}

/* ---- a file ---- */

/* Finds out whether the program's ELF loader is here, and which file it really is. */
static void look_at_loader(struct sc_file_facts *file, struct sc_scratch *scratch)
{
    if (!file->elf.loader)
        return;
    char *target = sc_scratch_take(scratch, PATH_MAX);
    file->is_elf_loader_here = access(file->elf.loader, F_OK) == 0;
    file->elf_loader = realpath(file->elf.loader, target) ? target : NULL;
}

/* Returns the interpreter of a script, or NULL for any other file. */
static const char *read_contents(struct sc_file_facts *file, struct sc_scratch *scratch, int fd)
{
    char start[LINE_BYTES + 1] = "";
    ssize_t size = pread(fd, start, LINE_BYTES, 0);
    if (size < 0)
        file->error = errno;
    if (size > 2 && memcmp(start, "#!", 2) == 0)
        return read_script(file, scratch, start + 2);
    file->kind = SC_FILE_OTHER;
    sc_elf_facts_read(&file->elf, scratch, fd);
    if (file->elf.is_elf)
        file->kind = SC_FILE_ELF;
    look_at_loader(file, scratch);
    return NULL;
}

/* Opens the file to look into it, if it is a regular one: what a script's first line names may be
 * anything. */
static int open_regular(struct sc_file_facts *file, struct stat *status)
{
    int fd = sc_regular_file_open(file->path, 0);
    if (fd < 0)
        file->error = -fd;
    else if (fstat(fd, status) != 0)
        file->error = errno;
    file->is_folder = file->error == EISDIR;
    return fd;
}

/* Looks at one file. Returns the interpreter to look at next if it is a script, else NULL. Of a
 * file that may be run and not be read, only that it may be run is known. */
static const char *look_at_file(struct sc_file_facts *file, struct sc_scratch *scratch)
{
    struct stat status;
    const char *interpreter = NULL;
    file->is_executable = access(file->path, X_OK) == 0;
    int fd = open_regular(file, &status);
    if (file->error == 0) {
        note_rights(file, fd, &status);
        interpreter = read_contents(file, scratch, fd);
    }
    if (fd >= 0)
        close(fd);
    return interpreter;
}

/* Records whether a program that is not in PATH lies in this folder: it would not be found, but
 * whoever has named it may mean it. */
static void look_beside(struct sc_file_facts *file, struct sc_scratch *scratch, const char *name)
{
    *file = (struct sc_file_facts){.path = name, .error = ENOENT};
    if (*name == '\0' || access(name, F_OK) != 0)
        return;
    struct sc_file_facts beside = {.path = sc_scratch_print(scratch, "./%s", name)};
    look_at_file(&beside, scratch);
    file->is_beside = !beside.is_folder;
    file->is_executable = beside.is_executable;
    file->kind = beside.kind;
}

/* Looks at the program's file, and while it is a script at that of its interpreter. */
void sc_program_file_look(struct sc_program_facts *facts, struct sc_scratch *scratch,
                          const char *program)
{
    const char *path = find(scratch, program);
    *facts = (struct sc_program_facts){.count = 1};
    if (!path) {
        look_beside(&facts->files[0], scratch, program);
        return;
    }
    for (facts->count = 0; path && facts->count < SC_FILES_MAX; facts->count++) {
        struct sc_file_facts *file = &facts->files[facts->count];
        file->path = path;
        path = look_at_file(file, scratch);
    }
}
