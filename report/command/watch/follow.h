/* Follows the reports in some folders while processes write them. They are opened for reading, and
 * never locked: the processes notice nothing.
 *
 * A report is known by its file and not by its name: one that is renamed goes on, one that takes
 * the name of another is new, and what a removed one still had is read as long as it is held open.
 * A file that is cut is read from its beginning. */
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
    char *path; /* the latest */
    dev_t device;
    ino_t inode;
    int fd; /* -1: opened for each reading */
    uint64_t size;
    int64_t changed_s;              /* when, since 1970 */
    uint32_t cuts;                  /* how often it was made shorter */
    unsigned missing;               /* looks in turn that have not found a name of it */
    struct sc_watch_report *report; /* the caller's; NULL at first */
};

/* All zero is none. */
struct sc_follow {
    char *const *paths; /* folders and files, up to a NULL */
    struct sc_followed *first, *last;
    struct sc_table table;
    size_t count, open_count, open_max;
    char *block; /* that is read into */
    size_t block_size;
};

/* How far a reader has come. All zero is the beginning. */
struct sc_follow_cursor {
    uint64_t at;
    uint32_t cuts;
    bool skips; /* within a line that is too long */
};

/* The paths stay the caller's. False after it has said that one is neither folder nor file. */
bool sc_follow_begin(struct sc_follow *follow, char *const *paths);

/* Looks which files are there now. New ones are added at the end of the list. */
void sc_follow_look(struct sc_follow *follow);

/* Takes a whole line without its newline; NULL: one that was longer than a report's. */
typedef void sc_follow_take(void *context, const char *line, size_t size);

/* Reads on in a file: as many whole lines as fit into `most` bytes, and at least one. Returns how
 * many bytes these were; 0: there is no whole line. */
size_t sc_follow_read(struct sc_follow *follow, struct sc_followed *file,
                      struct sc_follow_cursor *cursor, size_t most, sc_follow_take *take,
                      void *context);

/* May there be more behind the cursor, even if only a line that is not whole yet? */
bool sc_follow_has_more(const struct sc_followed *file, const struct sc_follow_cursor *cursor);

/* It has no name in the folders any more. One that is just renamed may be missed once. */
static inline bool sc_follow_is_gone(const struct sc_followed *file)
{
    return file->missing > 1;
}

/* Forgets a file. */
void sc_follow_drop(struct sc_follow *follow, struct sc_followed *file);

/* The caller has freed what is his. */
void sc_follow_free(struct sc_follow *follow);

#endif
