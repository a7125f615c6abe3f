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

/* Appends one limit; the first one opens the list. */
static void put_source(struct sc_text *line, bool *has_any, const char *source, const char *value)
{
    if (!*has_any)
        sc_json_put(line, "memory_limits:[");
    *has_any = true;
    sc_json_put(line, "{source:%s value:%s}", source, value);
}

/* Returns the limit that the file of a cgroup holds, or 0 if there is none. Older versions of Linux
 * write a number beyond any machine's memory for that (2^60 and more). */
static uint64_t limit_in(const char *path)
{
    uint64_t value = sc_file_number(path, "");
    return value >> 60 ? 0 : value;
}

/* Returns the lowest limit of the group at `path` and of the groups that it lies in, up to the
 * first `root` bytes of the path. `file` is the limit's file in each group. `where`: the file that
 * has the lowest limit. */
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
 * /proc/self/cgroup says; `begins`: how the line of the hierarchy begins that has memory limits. */
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

/* Appends limits from outside that make allocations fail: of control groups and of MPS. */
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
