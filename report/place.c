#define _GNU_SOURCE 1
#include "report/place.h"

#include "report/json_lines.h"
#include "report/options.h"
#include "report/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "track/poison.h"

/* Processes that start together may take a name from each other, but not for ever. */
enum { TRIES = 16 };

enum { FREE = 0 }; /* there is nothing at the name any more; a descriptor is greater */

/* Refusals of ours, by errors that opening and removing do not have. */
enum { IS_LINK = -EMLINK, IS_TAKEN = -EALREADY, IS_STRANGER = -EMEDIUMTYPE };

/* ---- descriptors ---- */

static struct {
    int number; /* -1: none is named */
    struct sc_file_identity identity;
} noted = {.number = -1};

/* The number that the name is one for; -1 for any other name. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0)
            continue;
        size_t digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 8 && path[length + digits] == '\0')
            return atoi(path + length);
    }
    return -1;
}

void sc_place_note_descriptor(const char *options)
{
    static const char key[] = "report_path=";
    while (options && *options != '\0') {
        char path[32] = "";
        size_t length = strcspn(options, ":");
        size_t prefix = sizeof key - 1;
        if (strncmp(options, key, prefix) == 0) {
            if (length - prefix < sizeof path)
                memcpy(path, options + prefix, length - prefix);
            noted.number = descriptor_of(path);
        }
        options += length + (options[length] == ':');
    }
    if (noted.number >= 0)
        noted.identity = sc_file_identify(noted.number);
}

/* A program may send its own stdout elsewhere, and means it. What another number names is only
 * known to be the user's as long as it is the same file. */
static bool is_the_users(int number)
{
    if (noted.number != number)
        return true;
    return noted.identity.inode != 0 &&
           (number <= STDERR_FILENO || sc_file_is_same(number, &noted.identity));
}

/* A file is written where the program's own writes go on, and not over them. The rest is opened
 * anew, since whether writes to it block is said in the open file, which others share. */
static int open_descriptor(int number)
{
    struct stat status;
    char path[32];
    struct sc_text text;
    int known = sc_file_status_of(number, &status);
    if (known != 0)
        return known;
    if (!is_the_users(number))
        return -EBADF;
    if (S_ISREG(status.st_mode))
        return sc_file_duplicate(number);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
        return -ENOTSUP;
    sc_text_init(&text, path, sizeof path);
    sc_text_put(&text, "/proc/self/fd/");
    sc_text_signed(&text, number);
    return sc_file_open_existing(path, O_WRONLY);
}

/* ---- what is there ---- */

/* Opens what `status` was asked of, and nothing that has been put in its place since. */
static int open_same(const char *path, int flags, const struct stat *status)
{
    const struct sc_file_identity identity = {.device = status->st_dev, .inode = status->st_ino};
    int fd = sc_file_open_existing(path, flags | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT ? FREE : fd == -ELOOP ? IS_LINK : fd;
    if (sc_file_is_same(fd, &identity))
        return fd;
    sc_file_close(fd);
    return FREE;
}

/* Nobody else put it there, and it has no other name by which it is somebody else's. */
static bool is_only_of(const struct stat *status, uid_t owner)
{
    return status->st_uid == owner && status->st_nlink == 1;
}

static bool is_open_only_of(int fd, uid_t owner)
{
    struct stat status;
    return sc_file_status_of(fd, &status) == 0 && is_only_of(&status, owner);
}

/* Where the first run line says which process it is of, or -1. The words cannot stand in the
 * command before, where their quotes would be escaped. */
static long find_process(int fd)
{
    static const char words[] = "\"pid\":";
    enum { PIECE = 4096, LONGEST = 256 * 1024, OVERLAP = sizeof words - 2 };
    char bytes[PIECE];
    for (long at = 0; at < LONGEST; at += PIECE - OVERLAP) {
        long size = sc_file_read_at(fd, bytes, PIECE, (uint64_t)at);
        const char *found = size > 0 ? memmem(bytes, (size_t)size, words, sizeof words - 1) : NULL;
        if (found)
            return at + (found - bytes);
        if (size < PIECE)
            break;
    }
    return -1;
}

static uint64_t number_after(const char *words, const char *text)
{
    const char *at = strstr(text, words);
    uint64_t number = 0;
    for (at = at ? at + strlen(words) : ""; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* The process on this host that began the report; its `started` is 0 if it is of none. */
struct author {
    int32_t pid;
    uint64_t started;
};

static struct author find_author(int fd, const char *host)
{
    char said[1024] = "", words[1024];
    struct sc_text text;
    struct author author = {0, 0};
    long at = find_process(fd);
    long size = at >= 0 ? sc_file_read_at(fd, said, sizeof said - 1, (uint64_t)at) : 0;
    said[size > 0 ? size : 0] = '\0';
    author.pid = (int32_t)number_after("\"pid\":", said);
    author.started = number_after("\"started\":", said);
    sc_text_init(&text, words, sizeof words);
    sc_json_lines_process(&text, author.pid, author.started, host);
    if (strncmp(said, words, text.used) != 0)
        author.started = 0;
    return author;
}

/* The name goes, and what else the file is called keeps the content. Not that of a file that was
 * made there meanwhile. */
static int remove_same(const char *path, const struct stat *status)
{
    struct stat now;
    int result = sc_file_status(path, &now);
    if (result == 0 && now.st_dev == status->st_dev && now.st_ino == status->st_ino)
        result = sc_file_remove(path);
    return result == -ENOENT ? FREE : result;
}

/* What this process found before an exec, or another one is finding, must not be lost; but what has
 * another owner or another name besides is not gone on with, whatever it says of itself. A file
 * that is no report is the user's: the path may be a mistake. */
static int take_open_file(int fd, const struct sc_path_names *names)
{
    if (!sc_file_begins(fd, SC_REPORT_BEGINNING))
        return IS_STRANGER;
    struct author author = find_author(fd, names->host);
    if (author.started == 0)
        return FREE;
    if (author.pid == names->pid && author.started == names->started)
        return is_open_only_of(fd, geteuid()) ? fd : IS_TAKEN;
    return sc_path_find_start(author.pid) == author.started ? IS_TAKEN : FREE;
}

/* Root may take anybody's name away. */
static int take_file(const char *path, const struct stat *status, const struct sc_path_names *names)
{
    if (status->st_uid != geteuid() && geteuid() != 0)
        return -EPERM;
    int fd = open_same(path, O_RDWR, status);
    if (fd <= FREE)
        return fd;
    int result = sc_file_lock(fd) ? take_open_file(fd, names) : IS_TAKEN;
    if (result == FREE)
        result = remove_same(path, status);
    if (result != fd)
        sc_file_close(fd);
    return result;
}

/* What swallows all, or refuses all, and has no other effect. */
static bool is_sink(const struct stat *status)
{
    enum { MEMORY = 1, NOTHING = 3, FULL = 7 };
    return major(status->st_rdev) == MEMORY &&
           (minor(status->st_rdev) == NOTHING || minor(status->st_rdev) == FULL);
}

/* The descriptor of what is at `path`, FREE if there is nothing any more, or -errno. */
static int take(const char *path, const struct sc_path_names *names)
{
    struct stat status;
    int result = sc_file_status(path, &status);
    if (result != 0)
        return result == -ENOENT ? FREE : result;
    switch (status.st_mode & S_IFMT) {
    case S_IFREG:
        return take_file(path, &status, names);
    case S_IFIFO:
        return is_only_of(&status, geteuid()) ? open_same(path, O_WRONLY, &status) : -EPERM;
    case S_IFCHR:
        return is_sink(&status) ? open_same(path, O_WRONLY, &status) : -ENOTSUP;
    case S_IFDIR:
        return -EISDIR;
    case S_IFLNK:
        return IS_LINK;
    default:
        return -ENOTSUP;
    }
}

/* ---- opening ---- */

static void add_pid(char *path, int32_t pid)
{
    struct sc_text text = {.bytes = path, .size = SC_OPTIONS_PATH_SIZE, .used = strlen(path)};
    sc_text_char(&text, '.');
    sc_text_signed(&text, pid);
}

/* Before it is locked, another process may take the name away again: then there is nothing. */
static int create(const char *path)
{
    struct stat status;
    int fd = sc_file_create(path);
    if (fd < 0)
        return fd;
    const struct sc_file_identity own = sc_file_identify(fd);
    if (sc_file_lock(fd) && sc_file_status(path, &status) == 0 && status.st_dev == own.device &&
        status.st_ino == own.inode)
        return fd;
    sc_file_close(fd);
    return FREE;
}

static int open_name(char *path, const char *taken, const struct sc_path_names *names,
                     bool *is_stranger)
{
    bool is_apart = strcmp(path, taken) == 0;
    int fd = FREE;
    if (is_apart)
        add_pid(path, names->pid);
    for (int tries = 0; tries < TRIES && fd == FREE; tries++) {
        fd = create(path);
        if (fd == -EEXIST)
            fd = take(path, names);
        if ((fd == IS_TAKEN || fd == IS_STRANGER) && !is_apart) {
            is_apart = true;
            *is_stranger = fd == IS_STRANGER;
            add_pid(path, names->pid);
            fd = FREE;
        }
    }
    return fd == FREE ? IS_TAKEN : fd;
}

int sc_place_open(char *path, const char *taken, const struct sc_path_names *names,
                  bool *is_stranger)
{
    int number = descriptor_of(path);
    *is_stranger = false;
    return number >= 0 ? open_descriptor(number) : open_name(path, taken, names, is_stranger);
}

int sc_place_open_again(const char *path, const struct sc_file_identity *identity)
{
    int number = descriptor_of(path);
    if (number >= 0)
        return open_descriptor(number);
    const struct stat status = {.st_dev = identity->device, .st_ino = identity->inode};
    int fd = open_same(path, O_WRONLY, &status);
    if (fd > FREE && S_ISREG(identity->mode) && !is_open_only_of(fd, identity->owner)) {
        sc_file_close(fd);
        return -EPERM;
    }
    return fd == FREE ? -ENOENT : fd;
}

/* ---- failing ---- */

static const struct {
    int error;
    const char *words, *remedy; /* NULL: the usual ones */
} failures[] = {
    {-IS_LINK, "a symbolic link is there", "Remove it"},
    {-IS_TAKEN, "other processes write there", "Add %p to it"},
    {-IS_STRANGER, "what is there is no report", "Move it"},
    {ENOTSUP, "neither a file nor a FIFO is there", NULL},
    {ENXIO, "nobody reads from it", "Start the reader first"},
    {EAGAIN, "its reader has stopped reading", NULL},
    {EPERM, "what is there may not be replaced", "Remove it"},
    {EISDIR, NULL, "Name a file in it"},
    {ENOSPC, NULL, "Free space there"},
    {EDQUOT, NULL, "Free space there"},
};

void sc_place_put_stranger(struct sc_text *text, const char *apart)
{
    const char *end = strrchr(apart, '.');
    sc_text_bytes(text, apart, (size_t)(end - apart));
    sc_text_put(text, " is no report and stays as it is: the report lies beside it, with ");
    sc_text_put(text, end);
    sc_text_put(text, " behind its name");
}

void sc_place_put_failure(struct sc_text *text, const char *path, int error)
{
    const char *words = NULL, *remedy = NULL;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].error == error) {
            words = failures[i].words;
            remedy = failures[i].remedy;
        }
    }
    sc_text_put(text, "cannot write the report (");
    if (words)
        sc_text_put(text, words);
    else
        sc_text_error(text, error);
    sc_text_put(text, "): ");
    sc_text_put(text, path);
    sc_text_put(text, "; hazards are still counted. ");
    sc_text_put(text, remedy ? remedy : "Set");
    sc_text_put(text, remedy ? " or set " : " ");
    sc_text_put(text, "SAFECOPY_OPTIONS=report_path=FILE");
}
