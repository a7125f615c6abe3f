/* Follows the reports in some folders while processes write them. The reports are opened for
 * reading and never locked, so the processes notice nothing.
 *
 * A report is identified by its file (device and inode) and not by its name: a renamed one goes on,
 * and another file with its name is new. What a removed report still had is read as long as it is
 * held open. A file that was truncated is read from its beginning. */
#ifndef SC_REPORT_COMMAND_WATCH_FOLLOW_H
#define SC_REPORT_COMMAND_WATCH_FOLLOW_H

#include "report/command/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sc_watch_report;

struct sc_followed {
    struct sc_node node; /* by device and inode */
    struct sc_followed *next;
    char *path; /* its latest name */
    dev_t device;
    ino_t inode;
    int fd; /* -1: opened for each reading */
    uint64_t size;
    int64_t changed_s;              /* when, since 1970 */
    uint32_t cuts;                  /* how often it was truncated */
    unsigned missing;               /* how many scans in succession have found no name of it */
    struct sc_watch_report *report; /* the caller's; NULL at first */
};

/* All zero is none. */
struct sc_follow {
    char *const *paths; /* folders and files, up to a NULL */
    struct sc_followed *first, *last;
    struct sc_table table;
    size_t count, open_count, open_max;
    char *block; /* the buffer for reading */
    size_t block_size;
};

/* How much of a file a reader has read. All zero is the beginning. */
struct sc_follow_cursor {
    uint64_t at;
    uint32_t cuts;
    bool skips; /* the reader is within a line that is too long */
};

/* Begins to follow. The paths stay the caller's. Returns false, after a message, if one is neither
 * a folder nor a file. */
bool sc_follow_begin(struct sc_follow *follow, char *const *paths);

/* Scans the folders. New files are added at the end of the list. */
void sc_follow_look(struct sc_follow *follow);

/* Called with a whole line without its newline; NULL: a line that was longer than a report's may
 * be. */
typedef void sc_follow_take(void *context, const char *line, size_t size);

/* Reads on in a file: as many whole lines as fit into `most` bytes, at least one. Returns how many
 * bytes these were; 0: there is no whole line. */
size_t sc_follow_read(struct sc_follow *follow, struct sc_followed *file,
                      struct sc_follow_cursor *cursor, size_t most, sc_follow_take *take,
                      void *context);

/* Returns true if there may be more after the cursor, even if only the beginning of a line. */
bool sc_follow_has_more(const struct sc_followed *file, const struct sc_follow_cursor *cursor);

/* Returns true if the file has no name in the folders any more. (A scan may miss a file that is
 * just being renamed, so one scan is not enough.) */
static inline bool sc_follow_is_gone(const struct sc_followed *file)
{
    return file->missing > 1;
}

/* Stops following a file. */
void sc_follow_drop(struct sc_follow *follow, struct sc_followed *file);

/* Frees the list. Pre: the caller has freed its records of reports. */
void sc_follow_free(struct sc_follow *follow);

#endif
