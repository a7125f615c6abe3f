#define _GNU_SOURCE 1
#include "report/command/watch/follow.h"

#include "report/command/input.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024, OPEN_LEFT = 64 };

/* ---- what is there ---- */

/* Is it a name that reports have: "a.jsonl", "a.jsonl.4711"? */
static bool is_name_of_report(const char *name)
{
    const char *end = strstr(name, ".jsonl");
    if (!end || name[0] == '.')
        return false;
    end += strlen(".jsonl");
    return *end == '\0' ||
           (*end == '.' && end[1] != '\0' && strspn(end + 1, "0123456789") == strlen(end + 1));
}

/* Returns the key of a file, whatever its name. */
static struct sc_digest digest_of(const struct stat *status)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_number(&digester, (int64_t)status->st_dev);
    sc_digest_number(&digester, (int64_t)status->st_ino);
    return sc_digest_end(&digester);
}

/* Returns the file that is followed already; NULL: it is new. */
static struct sc_followed *find(const struct sc_follow *follow, const struct stat *status)
{
    const struct sc_digest digest = digest_of(status);
    return (struct sc_followed *)(void *)sc_table_find(&follow->table, &digest);
}

/* Adds the file at the end of the list. */
static void append(struct sc_follow *follow, struct sc_followed *file)
{
    *(follow->last ? &follow->last->next : &follow->first) = file;
    follow->last = file;
    follow->count++;
}

/* Begins to follow a file; NULL: no memory. It is opened when it is first read. */
static struct sc_followed *add(struct sc_follow *follow, const char *path,
                               const struct stat *status)
{
    struct sc_followed *file = calloc(1, sizeof *file);
    char *own_path = strdup(path);
    if (file)
        *file = (struct sc_followed){.node.digest = digest_of(status),
                                     .path = own_path,
                                     .device = status->st_dev,
                                     .inode = status->st_ino,
                                     .fd = -1};
    if (!file || !own_path || !sc_table_add(&follow->table, &file->node)) {
        free(file);
        free(own_path);
        return NULL;
    }
    append(follow, file);
    return file;
}

/* Keeps the file open, so that it can be read on when it is removed. */
static void hold_open(struct sc_follow *follow, struct sc_followed *file)
{
    struct stat status;
    if (file->fd >= 0 || follow->open_count >= follow->open_max)
        return;
    int fd = sc_regular_file_open(file->path, O_NOFOLLOW);
    if (fd < 0)
        return;
    if (fstat(fd, &status) != 0 || status.st_ino != file->inode || status.st_dev != file->device) {
        close(fd);
        return;
    }
    file->fd = fd;
    follow->open_count++;
}

/* Records the file's size. If it has shrunk it was begun anew. */
static void note_size(struct sc_followed *file, const struct stat *status)
{
    if ((uint64_t)status->st_size < file->size)
        file->cuts++;
    file->size = (uint64_t)status->st_size;
    file->changed_s = status->st_mtime;
}

/* Follows the file from now on, or notes what has changed of it: its name may have. */
static void take_file(struct sc_follow *follow, const char *path, const struct stat *status)
{
    struct sc_followed *file = S_ISREG(status->st_mode) ? find(follow, status) : NULL;
    if (!file && S_ISREG(status->st_mode))
        file = add(follow, path, status);
    if (!file)
        return;
    if (strcmp(file->path, path) != 0) {
        char *renamed = strdup(path);
        free(renamed ? file->path : NULL);
        file->path = renamed ? renamed : file->path;
    }
    file->missing = 0;
    note_size(file, status);
    hold_open(follow, file);
}

/* Takes all files of a folder that are named as reports are. */
static void look_into(struct sc_follow *follow, const char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    struct stat status;
    while (stream && (entry = readdir(stream))) {
        char *path = NULL;
        if (!is_name_of_report(entry->d_name) ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        if (lstat(path, &status) == 0)
            take_file(follow, path, &status);
        free(path);
    }
    if (stream)
        closedir(stream);
}

/* Records how large a file has become that has no name any more, but is open: it may still grow. */
static void look_at_open(struct sc_followed *file)
{
    struct stat status;
    if (file->missing > 0 && file->fd >= 0 && fstat(file->fd, &status) == 0)
        note_size(file, &status);
}

/* Looks what reports there are now, and how large they are. */
void sc_follow_look(struct sc_follow *follow)
{
    struct stat status;
    for (struct sc_followed *file = follow->first; file; file = file->next)
        file->missing++;
    for (char *const *path = follow->paths; *path; path++) {
        if (stat(*path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            look_into(follow, *path);
        else if (lstat(*path, &status) == 0)
            take_file(follow, *path, &status);
    }
    for (struct sc_followed *file = follow->first; file; file = file->next)
        look_at_open(file);
}

/* Returns how many files may be kept open, as a file that is removed can then still be read to its
 * end. */
static size_t find_open_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > OPEN_LEFT ? (size_t)(limit.rlim_cur - OPEN_LEFT) : 0;
}

/* Begins to follow. Prints a message and returns false if a path cannot be followed. */
bool sc_follow_begin(struct sc_follow *follow, char *const *paths)
{
    struct stat status;
    *follow = (struct sc_follow){.paths = paths, .open_max = find_open_max()};
    for (; *paths; paths++) {
        if (stat(*paths, &status) != 0)
            sc_say("cannot watch %s: %s", *paths, strerror(errno));
        else if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
            sc_say("cannot watch %s: it is neither a folder nor a file", *paths);
        else
            continue;
        return false;
    }
    return true;
}

/* Closes and frees a followed file. */
static void free_file(struct sc_follow *follow, struct sc_followed *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        follow->open_count--;
    }
    free(file->path);
    free(file);
}

/* Ends to follow the file. */
void sc_follow_drop(struct sc_follow *follow, struct sc_followed *file)
{
    struct sc_followed **at = &follow->first, *before = NULL;
    while (*at != file) {
        before = *at;
        at = &before->next;
    }
    *at = file->next;
    if (follow->last == file)
        follow->last = before;
    follow->count--;
    sc_table_remove(&follow->table, &file->node);
    free_file(follow, file);
}

void sc_follow_free(struct sc_follow *follow)
{
    while (follow->first) {
        struct sc_followed *file = follow->first;
        follow->first = file->next;
        free_file(follow, file);
    }
    sc_table_free(&follow->table);
    free(follow->block);
    *follow = (struct sc_follow){0};
}

/* ---- reading ---- */

/* Makes room for a block of this size. False: no memory. */
static bool make_room(struct sc_follow *follow, size_t size)
{
    if (size <= follow->block_size)
        return true;
    char *larger = realloc(follow->block, size);
    if (!larger)
        return false;
    follow->block = larger;
    follow->block_size = size;
    return true;
}

/* Returns the file's descriptor: the one that is kept, or else it is opened anew. */
static int open_of(const struct sc_followed *file)
{
    return file->fd >= 0 ? file->fd : sc_regular_file_open(file->path, O_NOFOLLOW);
}

/* Reads the file's bytes from `at` on into the block. Returns how many there are. */
static size_t fill(struct sc_follow *follow, int fd, uint64_t at, size_t size)
{
    size_t filled = 0;
    ssize_t part = 1;
    while (filled < size && part > 0) {
        part = pread(fd, follow->block + filled, size - filled, (off_t)(at + filled));
        if (part > 0)
            filled += (size_t)part;
    }
    return filled;
}

/* Takes all whole lines of the block. Returns how many bytes they have. */
static size_t take_lines(const struct sc_follow *follow, size_t filled,
                         struct sc_follow_cursor *cursor, sc_follow_take *take, void *context)
{
    size_t begin = 0;
    const char *newline;
    while ((newline = memchr(follow->block + begin, '\n', filled - begin))) {
        size_t size = (size_t)(newline - follow->block) - begin;
        if (!cursor->skips && size > 0)
            take(context, follow->block + begin, size);
        cursor->skips = false;
        begin += size + 1;
    }
    return begin;
}

/* Passes over a line that is longer than one of a report may be. */
static size_t skip(struct sc_follow_cursor *cursor, size_t filled, sc_follow_take *take,
                   void *context)
{
    if (!cursor->skips)
        take(context, NULL, 0);
    cursor->skips = true;
    return filled;
}

/* Returns the size of the next larger block: twice the size, or `most` if that is less. If the
 * size is `most` already, it is doubled all the same. */
static size_t larger(size_t size, size_t most)
{
    return size < most && 2 * size > most ? most : 2 * size;
}

/* Reads a block and takes its whole lines. A longer line needs a larger block, up to a limit.
 * Returns the bytes taken. */
static size_t read_block(struct sc_follow *follow, int fd, struct sc_follow_cursor *cursor,
                         size_t most, sc_follow_take *take, void *context)
{
    for (size_t size = most < BLOCK ? most : BLOCK;; size = larger(size, most)) {
        if (!make_room(follow, size))
            return 0;
        size_t filled = fill(follow, fd, cursor->at, size);
        size_t taken = take_lines(follow, filled, cursor, take, context);
        if (taken == 0 && filled == size && size > SC_INPUT_LINE_MAX)
            taken = skip(cursor, filled, take, context);
        cursor->at += taken;
        if (taken > 0 || filled < size)
            return taken;
    }
}

/* Processes the lines that came since the cursor, up to `most` bytes. Returns how many bytes that
 * were. */
size_t sc_follow_read(struct sc_follow *follow, struct sc_followed *file,
                      struct sc_follow_cursor *cursor, size_t most, sc_follow_take *take,
                      void *context)
{
    size_t all = 0, taken = 1;
    if (cursor->cuts != file->cuts)
        *cursor = (struct sc_follow_cursor){.cuts = file->cuts};
    if (!sc_follow_has_more(file, cursor))
        return 0;
    int fd = open_of(file);
    while (fd >= 0 && all < most && taken > 0) {
        taken = read_block(follow, fd, cursor, most - all, take, context);
        all += taken;
    }
    if (fd >= 0 && fd != file->fd)
        close(fd);
    return all;
}

/* Has the file got more than the cursor has read, or was it cut since? */
bool sc_follow_has_more(const struct sc_followed *file, const struct sc_follow_cursor *cursor)
{
    return cursor->cuts != file->cuts || cursor->at < file->size;
}
