#define _GNU_SOURCE 1
#include "report/memory_limits.h"

#include "common/text.h"
#include "report/file.h"
#include "report/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/poison.h"

enum { PATH_BYTES = 1024, GROUPS_BYTES = 4096 };

/* Appends one limit and where it comes from. The member `memory_limits` begins with the first one,
 * so that it is left out without any. */
static void put_source(struct sc_text *line, bool *has_any, const char *source, const char *value)
{
    if (!*has_any)
        sc_json_put(line, "memory_limits:[");
    *has_any = true;
    sc_json_put(line, "{source:%s value:%s}", source, value);
}

/* Returns the limit in a file of a cgroup; 0: there is none. "No limit" is the word "max" in
 * cgroup v2, which reads as 0, and in v1 a number beyond any machine's memory (2^60 and more). */
static uint64_t limit_in(const char *path)
{
    uint64_t value = sc_file_number(path, "");
    return value >> 60 ? 0 : value;
}

/* Returns the lowest limit of the cgroup at `path` and of the groups around it, since all of them
 * hold; 0: none. `path` is cut component by component, down to its first `root` bytes, and stays
 * cut. `file`: the limit's file in each group. `where` becomes the file with the lowest limit. */
static uint64_t lowest_limit(struct sc_text *path, size_t root, const char *file, char *where)
{
    uint64_t found = 0;
    for (size_t end = path->used; end >= root; end--) {
        if (end < path->used && path->bytes[end] != '/')
            continue;
        sc_text_rewind(path, end);
        sc_text_put(path, file);
        uint64_t limit = path->cut ? 0 : limit_in(path->bytes);
        if (limit && (!found || limit < found)) {
            found = limit;
            memcpy(where, path->bytes, path->used + 1);
        }
        sc_text_rewind(path, end);
    }
    return found;
}

/* Writes the lowest limit of the process's cgroup and the groups around it. `groups`: what
 * /proc/self/cgroup says. `begins`: how the line begins that names the group with memory limits,
 * which differs between the two versions of cgroups. Nothing is written if there is no such line
 * or the path does not fit. */
static void put_group(struct sc_text *line, bool *has_any, char *groups, const char *begins,
                      const char *root, const char *file)
{
    char path[PATH_BYTES], where[PATH_BYTES], value[24];
    char *at = strstr(groups, begins);
    if (!at)
        return;
    at += strlen(begins);
    struct sc_text text = sc_text_in(path, sizeof path);
    sc_text_put(&text, root);
    sc_text_bytes(&text, at, strcspn(at, "\n"));
    if (text.cut || strcspn(at, "\n") == 0)
        return;
    if (path[text.used - 1] == '/')
        sc_text_rewind(&text, text.used - 1);
    uint64_t limit = lowest_limit(&text, strlen(root), file, where);
    struct sc_text number = sc_text_in(value, sizeof value);
    sc_text_format(&number, "%lu", limit);
    if (limit)
        put_source(line, has_any, where, value);
}

/* Appends limits from outside the process that make allocations fail: MPS's for device memory, and
 * that of control groups, to which pinned memory is charged. Both versions of cgroups are looked
 * for; a machine has one or the other. */
void sc_memory_limits_put(struct sc_text *line)
{
    static const char mps[] = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";
    char groups[GROUPS_BYTES];
    bool has_any = false;
    long size = sc_file_read("/proc/self/cgroup", groups, sizeof groups - 1);
    groups[size > 0 ? size : 0] = '\0';
    if (getenv(mps))
        put_source(line, &has_any, mps, getenv(mps));
    put_group(line, &has_any, groups, "0::", "/sys/fs/cgroup", "/memory.max");
    put_group(line, &has_any, groups, ":memory:", "/sys/fs/cgroup/memory",
              "/memory.limit_in_bytes");
    if (has_any)
        sc_json_put(line, "]");
}
