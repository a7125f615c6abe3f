#include "interpose/entry/children.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "ledger/statement.h"
#include "report/file.h"

#include "common/poison.h"

enum { PATH_BYTES = 96, LINK_BYTES = 256, LIST_BYTES = 1024 };
enum { ENTRIES_MAX = 4096 }; /* of a folder that are looked at: the process is about to end */

/* Puts the path of a file in a folder of /proc together, in the caller's buffer. */
static const char *path_of(char path[PATH_BYTES], const char *folder, const char *name,
                           const char *file)
{
    struct sc_text text = sc_text_in(path, PATH_BYTES);
    sc_text_format(&text, "%s/%s%s", folder, name, file);
    return path;
}

/* A visitor of /proc/PID/fd: is this descriptor one of a GPU's file? Then the search ends. The path
 * may begin with another root, so its middle is compared. */
static bool is_device_file(void *unused, const char *folder, const char *name)
{
    char path[PATH_BYTES], target[LINK_BYTES];
    (void)unused;
    sc_file_link(path_of(path, folder, name, ""), target, sizeof target);
    return strstr(target, "/dev/nvidia");
}

/* Adds the child process to the statement, with its name, if it has a GPU open: it may use memory
 * of the device. As many as fit; a child may end meanwhile, and has no name then. */
static void add_child(struct sc_statement *statement, const char *pid)
{
    char path[PATH_BYTES];
    if (statement->child_count == SC_STATEMENT_CHILDREN ||
        !sc_file_each_entry(path_of(path, "/proc", pid, "/fd"), ENTRIES_MAX, is_device_file, NULL))
        return;
    struct sc_statement_child *child = &statement->children[statement->child_count++];
    child->pid = atoi(pid);
    long size =
        sc_file_read(path_of(path, "/proc", pid, "/comm"), child->name, sizeof child->name - 1);
    child->name[size > 0 ? strcspn(child->name, "\n") : 0] = '\0';
}

/* A visitor of /proc/self/task: adds the child processes that this thread has forked, which Linux
 * lists as "1 2 3 ". Returns false, so that all threads are visited. */
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

/* Adds child processes that still use a GPU to the statement, when this process ends: the device's
 * memory that they use stays in use. */
void sc_children_find(struct sc_statement *statement)
{
    sc_file_each_entry("/proc/self/task", ENTRIES_MAX, add_children_of, statement);
}
