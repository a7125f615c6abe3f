#include "interpose/entry/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/text.h"
#include "ledger/statement.h"
#include "report/file.h"

#include "common/poison.h"

enum { ENTRIES_BYTES = 1024, PATH_BYTES = 96, LINK_BYTES = 256, LIST_BYTES = 1024 };
enum { ENTRIES_MAX = 4096 }; /* of a folder that are looked at: the process is about to end */

/* Is given each entry of a folder. True: the walk is over. */
typedef bool visitor(void *context, const char *folder, const char *name);

/* Calls `visit` for the entries of a folder until it returns true. Makes system calls alone, since
 * a forked child may have no working C library. */
static bool walk_folder(const char *folder, visitor *visit, void *context)
{
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    bool is_over = false;
    unsigned left = ENTRIES_MAX;
    long size;
    long fd = sc_kernel_call(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!is_over && left > 0 &&
           (size = sc_kernel_call(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < size && !is_over && left > 0; left--) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            is_over = entry->d_name[0] != '.' && visit(context, folder, entry->d_name);
            at += entry->d_reclen;
        }
    sc_kernel_call(SYS_close, fd);
    return is_over;
}

/* Puts a path together. */
static const char *path_of(char path[PATH_BYTES], const char *folder, const char *name,
                           const char *file)
{
    struct sc_text text = sc_text_in(path, PATH_BYTES);
    sc_text_format(&text, "%s/%s%s", folder, name, file);
    return path;
}

/* Visits an entry of /proc/PID/fd: returns whether the descriptor is one of a GPU's file. The path
 * may begin with another root. */
static bool is_device_file(void *unused, const char *folder, const char *name)
{
    char path[PATH_BYTES], target[LINK_BYTES];
    (void)unused;
    sc_file_link(path_of(path, folder, name, ""), target, sizeof target);
    return strstr(target, "/dev/nvidia");
}

/* Adds the child to the statement if it has a device open. */
static void add_child(struct sc_statement *statement, const char *pid)
{
    char path[PATH_BYTES];
    if (statement->child_count == SC_STATEMENT_CHILDREN ||
        !walk_folder(path_of(path, "/proc", pid, "/fd"), is_device_file, NULL))
        return;
    struct sc_statement_child *child = &statement->children[statement->child_count++];
    child->pid = atoi(pid);
    long size =
        sc_file_read(path_of(path, "/proc", pid, "/comm"), child->name, sizeof child->name - 1);
    child->name[size > 0 ? strcspn(child->name, "\n") : 0] = '\0';
}

/* Visits an entry of /proc/self/task: adds the children that the thread has forked; its file lists
 * them as "1 2 3 ". */
static bool add_children_of(void *statement, const char *folder, const char *name)
{
    char path[PATH_BYTES], list[LIST_BYTES + 1];
    long size = sc_file_read(path_of(path, folder, name, "/children"), list, LIST_BYTES);
    list[size > 0 ? size : 0] = '\0';
    for (char *pid = list, *end; (end = strchr(pid, ' ')) != NULL; pid = end + 1) {
        *end = '\0';
        add_child(statement, pid);
    }
    return false;
}

void sc_children_find(struct sc_statement *statement)
{
    walk_folder("/proc/self/task", add_children_of, statement);
}
