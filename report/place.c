#define _GNU_SOURCE 1
#include "report/place.h"

#include "common/kernel.h"
#include "common/text.h"
#include "report/file.h"
#include "report/json.h"
#include "report/options.h"
#include "report/own_report.h"
#include "report/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/poison.h"

/* How often opening is tried: processes that start together may take a name from each other, but
 * not for ever. */
enum { TRIES = 16 };

enum { FREE = 0 }; /* a result: nothing has the name any more; descriptors are greater */

enum { MINOR_NULL = 3, MINOR_FULL = 7 }; /* of /dev/null and /dev/full */

/* Results that are refusals of ours, as errors that opening and removing never give. */
enum {
    IS_LINK = -EMLINK,          /* a symbolic link */
    IS_TAKEN = -EALREADY,       /* another process writes there */
    IS_STRANGER = -EMEDIUMTYPE, /* no whole report of ours */
    HAS_NAMES = -ENOTUNIQ,      /* a report with another name besides */
};

/* ---- descriptors ---- */

static struct {
    int number; /* -1: report_path names no descriptor */
    struct sc_file_identity identity;
} named_at_start = {.number = -1};

/* Returns the descriptor that the path names; -1 for any other path. */
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

/* Finds the last report_path in the text of the options and notes its descriptor. The library
 * cannot read the options yet at this time. */
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
            named_at_start.number = descriptor_of(path);
        }
        options += length + (options[length] == ':');
    }
    if (named_at_start.number >= 0)
        named_at_start.identity = sc_file_identify(named_at_start.number);
}

/* Is the descriptor still the user's, and not a file of the program's? A program may mean to send
 * its own stdout elsewhere. Any other number must still have the file of the process's start. */
static bool is_the_users(int number)
{
    if (named_at_start.number != number)
        return true;
    return named_at_start.identity.inode != 0 &&
           (number <= STDERR_FILENO || sc_file_is_same(number, &named_at_start.identity));
}

/* Opens what the descriptor has open. A regular file is shared, so that our lines stand after the
 * program's and not over them. The rest is opened anew: O_NONBLOCK belongs to the open file, which
 * others share. */
static int open_descriptor(int number)
{
    struct stat status;
    int known = sc_file_status_of(number, &status);
    if (known != 0)
        return known;
    if (!is_the_users(number))
        return -EBADF;
    if (S_ISREG(status.st_mode))
        return sc_file_duplicate(number);
    if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))
        return -ENOTSUP;
    SC_TEXT(text, 32);
    sc_text_format(&text, "/proc/self/fd/%d", number);
    return sc_file_open_existing(text.bytes, O_WRONLY);
}

/* ---- what is there ---- */

/* Opens the file that `status` describes, and nothing that has been put in its place since. FREE:
 * the path no longer leads to that file. */
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

/* Is the file the owner's, with no other name by which it may be somebody else's? */
static bool is_only_of(const struct stat *status, uid_t owner)
{
    return status->st_uid == owner && status->st_nlink == 1;
}

static bool is_open_only_of(int fd, uid_t owner)
{
    struct stat status;
    return sc_file_status_of(fd, &status) == 0 && is_only_of(&status, owner);
}

/* Was the report written on this host? Another pid namespace with the same host's name cannot be
 * told apart. JSON's escapes are compared as well. */
static bool is_on_this_host(const struct sc_own_report_author *author, const char *host)
{
    SC_TEXT(text, sizeof author->host + 2);
    sc_json_put(&text, "%s", host);
    size_t length = strlen(author->host);
    return !text.cut && text.used == length + 2 &&
           memcmp(text.bytes + 1, author->host, length) == 0;
}

/* Removes the name of the file that `status` describes, unless another file has the name by now. */
static int remove_same(const char *path, const struct stat *status)
{
    struct stat now;
    int result = sc_file_status(path, &now);
    if (result == 0 && now.st_dev == status->st_dev && now.st_ino == status->st_ino)
        result = sc_file_remove(path);
    return result == -ENOENT ? FREE : result;
}

/* Decides on the locked file at the report's path: `fd`, to go on with it; FREE, to replace it; or
 * a refusal. The lock says that no process has it open to write. A file that is no report is the
 * user's: the path may be a mistake. A report of this very process goes on, since an exec must not
 * lose what was found before; but only if this user owns it, whatever it says of itself. A report
 * whose process lives stays: that process may have closed its descriptors, or be between an exec
 * and its use of CUDA. */
static int decide_on_file(int fd, const struct sc_path_names *names)
{
    struct sc_own_report_author author;
    struct stat status;
    int result = sc_file_status_of(fd, &status);
    if (result != 0)
        return result;
    if (!sc_own_report_begins(fd, &author) || !sc_own_report_ends(fd))
        return IS_STRANGER;
    if (status.st_nlink != 1)
        return HAS_NAMES;
    if (author.started == 0 || !is_on_this_host(&author, names->host))
        return FREE;
    if (author.pid == names->pid && author.started == names->started)
        return is_only_of(&status, geteuid()) ? fd : IS_TAKEN;
    return sc_path_find_start(author.pid) == author.started ? IS_TAKEN : FREE;
}

/* Opens the file at `path` and decides on it, as decide_on_file says. *fd is the open file, or
 * not greater than FREE. Root may replace anybody's report. */
static int look_into(const char *path, const struct stat *status, const struct sc_path_names *names,
                     int *fd)
{
    if (status->st_uid != geteuid() && geteuid() != 0)
        return -EPERM;
    *fd = open_same(path, O_RDWR, status);
    if (*fd <= FREE)
        return *fd;
    return sc_file_lock(*fd) ? decide_on_file(*fd, names) : IS_TAKEN;
}

/* Goes on with the report at `path`, or removes it (FREE); else a refusal or -errno. */
static int take_file(const char *path, const struct stat *status, const struct sc_path_names *names)
{
    int fd = FREE, result = look_into(path, status, names, &fd);
    if (fd <= FREE)
        return result;
    if (result == FREE)
        result = remove_same(path, status);
    if (result != fd)
        sc_file_close(fd);
    return result;
}

/* Is it /dev/null or /dev/full, by its minor number? These swallow or refuse everything, and
 * writing has no other effect. */
static bool is_sink(const struct stat *status, unsigned number)
{
    enum { MEMORY = 1 };
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == MEMORY &&
           minor(status->st_rdev) == number;
}

/* Returns why the report is not written to something that is no regular file, or 0 if it is written
 * there. */
static int refusal_of(const struct stat *status)
{
    switch (status->st_mode & S_IFMT) {
    case S_IFIFO:
        return is_only_of(status, geteuid()) ? 0 : -EPERM;
    case S_IFCHR:
        return is_sink(status, MINOR_NULL) || is_sink(status, MINOR_FULL) ? 0 : -ENOTSUP;
    case S_IFDIR:
        return -EISDIR;
    case S_IFLNK:
        return IS_LINK;
    default:
        return -ENOTSUP;
    }
}

/* Opens or clears away what is at `path`. Returns a descriptor, FREE if there is nothing any more,
 * or an error. */
static int take_existing(const char *path, const struct sc_path_names *names)
{
    struct stat status;
    int result = sc_file_status(path, &status);
    if (result != 0)
        return result == -ENOENT ? FREE : result;
    if (S_ISREG(status.st_mode))
        return take_file(path, &status, names);
    result = refusal_of(&status);
    return result != 0 ? result : open_same(path, O_WRONLY, &status);
}

/* ---- opening ---- */

static void add_pid(char *path, int32_t pid)
{
    struct sc_text text = {.bytes = path, .size = SC_OPTIONS_PATH_SIZE, .used = strlen(path)};
    sc_text_format(&text, ".%d", pid);
}

/* Locks our new file. Another process that looks at the file holds the lock for a moment. An empty
 * file is left alone by whoever looks, so we may write even if we never get the lock. */
static void lock_own(int fd)
{
    const struct timespec pause = {0, 1000 * 1000};
    for (int tries = 0; tries < TRIES && !sc_file_lock(fd); tries++)
        (void)sc_kernel_call(SYS_nanosleep, &pause, NULL);
}

/* Makes the file if nothing is at the path. A descriptor, locked as ours, or -errno. */
static int create_file(const char *path)
{
    int fd = sc_file_create(path);
    if (fd > FREE)
        lock_own(fd);
    return fd;
}

/* Returns why the user's file at the path is kept, in words, or NULL if the reason needs no words.
 */
static const char *reason_to_keep(int result)
{
    switch (result) {
    case IS_STRANGER:
        return "is no report, or not a whole one,";
    case HAS_NAMES:
        return "has another name besides (a hard link)";
    default:
        return NULL;
    }
}

/* Makes the report's file. If what is at the path has to stay, the pid is appended to the path,
 * once. */
static int open_name(char *path, const char *taken, const struct sc_path_names *names,
                     const char **kept)
{
    bool is_apart = strcmp(path, taken) == 0;
    int fd = FREE;
    if (is_apart)
        add_pid(path, names->pid);
    for (int tries = 0; tries < TRIES && fd == FREE; tries++) {
        fd = create_file(path);
        if (fd == -EEXIST)
            fd = take_existing(path, names);
        if ((fd == IS_TAKEN || reason_to_keep(fd)) && !is_apart) {
            is_apart = true;
            *kept = reason_to_keep(fd);
            add_pid(path, names->pid);
            fd = FREE;
        }
    }
    return fd == FREE ? IS_TAKEN : fd;
}

int sc_place_open(char *path, const char *taken, const struct sc_path_names *names,
                  const char **kept)
{
    int number = descriptor_of(path);
    *kept = NULL;
    return number >= 0 ? open_descriptor(number) : open_name(path, taken, names, kept);
}

/* ---- foreseeing ---- */

/* Returns what would become of the regular file at `path`, as sc_place_foresee returns it. */
static int foresee_file(const char *path, const struct stat *status,
                        const struct sc_path_names *names, const char **kept)
{
    int fd = FREE, result = look_into(path, status, names, &fd);
    if (fd > FREE)
        sc_file_close(fd);
    *kept = reason_to_keep(result);
    return result == FREE || result == IS_TAKEN || *kept ? SC_PLACE_NEEDS_FOLDER : result;
}

/* Finds out what opening the report would do, and leaves no trace: no file is made. */
int sc_place_foresee(const char *path, const struct sc_path_names *names, const char **kept)
{
    struct stat status;
    int number = descriptor_of(path);
    int result = number >= 0 ? open_descriptor(number) : sc_file_status(path, &status);
    *kept = NULL;
    if (number >= 0 && result >= 0)
        sc_file_close(result);
    if (number >= 0)
        return result < 0 ? result : SC_PLACE_IS_THERE;
    if (result != 0)
        return result == -ENOENT ? SC_PLACE_NEEDS_FOLDER : result;
    if (S_ISREG(status.st_mode))
        return foresee_file(path, &status, names, kept);
    result = is_sink(&status, MINOR_FULL) ? -ENOSPC : refusal_of(&status);
    return result != 0 ? result : SC_PLACE_IS_THERE;
}

/* Removes the file only if it has no whole first line and nobody else has given it another name. */
void sc_place_withdraw(const char *path, const struct sc_file_identity *identity)
{
    const struct stat status = {.st_dev = identity->device, .st_ino = identity->inode};
    struct sc_own_report_author author;
    int fd = S_ISREG(identity->mode) ? open_same(path, O_RDWR, &status) : FREE;
    if (fd <= FREE)
        return;
    if (!sc_own_report_begins(fd, &author) && is_open_only_of(fd, identity->owner))
        (void)remove_same(path, &status);
    sc_file_close(fd);
}

/* Opens the report again. By its path only the very file that was the report before is opened. A
 * descriptor that report_path names is opened as at first: the caller has to check whether it still
 * leads there. */
int sc_place_open_again(const char *path, const struct sc_file_identity *identity)
{
    int number = descriptor_of(path);
    if (number >= 0)
        return open_descriptor(number);
    const struct stat status = {.st_dev = identity->device, .st_ino = identity->inode};
    int fd = open_same(path, O_WRONLY, &status);
    if (fd > FREE && S_ISREG(identity->mode)) {
        (void)sc_file_lock(fd); /* anew: whoever closed the descriptor has unlocked it */
        if (is_open_only_of(fd, identity->owner))
            return fd;
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
    {-IS_STRANGER, "what is there is no report, or not a whole one", "Move it"},
    {-HAS_NAMES, "what is there has another name besides", "Move it"},
    {ENOTSUP, "neither a file nor a FIFO is there", NULL},
    {ENXIO, "nobody reads from it", "Start the reader first"},
    {EAGAIN, "its reader has stopped reading", NULL},
    {EPERM, "what is there may not be replaced", "Remove it"},
    {EISDIR, NULL, "Name a file in it"},
    {ENOSPC, NULL, "Free space there"},
    {EDQUOT, NULL, "Free space there"},
};

void sc_place_put_kept(struct sc_text *text, const char *apart, const char *kept)
{
    const char *end = strrchr(apart, '.');
    sc_text_bytes(text, apart, (size_t)(end - apart));
    sc_text_format(text,
                   " %s and stays as it is: the report lies beside it, with %s behind its name",
                   kept, end);
}

const char *sc_place_find_failure(int error, const char **remedy)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].error != error)
            continue;
        *remedy = failures[i].remedy;
        return failures[i].words;
    }
    *remedy = NULL;
    return NULL;
}

/* Says why the report cannot be written, and what helps. */
void sc_place_put_failure(struct sc_text *text, const char *path, int error)
{
    const char *remedy, *words = sc_place_find_failure(error, &remedy);
    sc_text_put(text, "cannot write the report (");
    if (words)
        sc_text_put(text, words);
    else
        sc_text_error(text, error);
    sc_text_format(text, "): %s; hazards are still counted. %s%sSAFECOPY_OPTIONS=report_path=FILE",
                   path, remedy ? remedy : "Set", remedy ? " or set " : " ");
}
