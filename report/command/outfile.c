#define _GNU_SOURCE 1
#include "report/command/outfile.h"

#include "report/command/say.h"
#include "report/file.h"
#include "report/version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that the command reads. */
static struct kept {
    struct kept *next;
    dev_t device;
    ino_t inode;
} * kept;

/* The name that a file has until it is complete. */
static char *_Atomic unfinished;

/* Adds the file to those that must never be overwritten, since it is one that is read. */
void sc_outfile_keep(const char *path)
{
    struct stat status;
    struct kept *file = stat(path, &status) == 0 ? malloc(sizeof *file) : NULL;
    if (!file)
        return;
    *file = (struct kept){kept, status.st_dev, status.st_ino};
    kept = file;
}

/* Is it a file that the command reads and must not overwrite? */
static bool is_kept(const struct stat *status)
{
    const struct kept *file = kept;
    while (file && (file->device != status->st_dev || file->inode != status->st_ino))
        file = file->next;
    return file;
}

/* Says why the file cannot be written. Returns false for the caller to return. */
static bool refuse(const char *path, const char *why)
{
    sc_say("cannot write %s: %s", path, why);
    return false;
}

/* Is the file a report? It must not be overwritten: "-o *.jsonl" would name a report as the
 * output, and a report cannot be made again. */
static bool is_report(const char *path, const struct stat *status)
{
    int fd = status->st_size > 0 ? sc_file_open(path) : -1;
    bool is_it = fd >= 0 && sc_file_begins(fd, SC_REPORT_BEGINNING);
    if (fd >= 0)
        sc_file_close(fd);
    return is_it;
}

/* Returns whether the file may be replaced, and prints why not. One that does not exist yet may be
 * written. */
static bool may_replace(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || refuse(path, strerror(errno));
    if (S_ISLNK(status.st_mode))
        return refuse(path, "a symbolic link is there. Remove it");
    if (S_ISDIR(status.st_mode))
        return refuse(path, "a folder is there. Name a file in it");
    if (!S_ISREG(status.st_mode))
        return refuse(path, "what is there is no file");
    if (is_kept(&status))
        return refuse(path, "this command reads it. Name another file");
    return !is_report(path, &status) || refuse(path, "a report is there. Name another file");
}

static bool is_by_umask(const struct sc_outfile_place *place)
{
    return place->mode && strcmp(place->mode, "umask") == 0;
}

/* Takes the value of --output-mode: whether others may read the output. */
bool sc_outfile_take_mode(struct sc_outfile_place *place, const char *word)
{
    place->mode = word;
    if (is_by_umask(place) || strcmp(word, "private") == 0)
        return true;
    sc_say("--output-mode takes private or umask, and not '%s'", word);
    return false;
}

/* Prints a message and returns false if a mode is given and no file. */
bool sc_outfile_has_use_of_mode(const struct sc_outfile_place *place)
{
    if (!place->mode || (place->path && strcmp(place->path, "-") != 0))
        return true;
    sc_say("--output-mode %s has nothing to hold for: -o names the file", place->mode);
    return false;
}

/* Returns the permissions of the file that is replaced. A group other than before gets none. */
static mode_t former_permissions(int fd, const char *path)
{
    struct stat former, made;
    if (lstat(path, &former) != 0 || !S_ISREG(former.st_mode) || former.st_uid != geteuid() ||
        fstat(fd, &made) != 0)
        return 0;
    return former.st_gid == made.st_gid ? former.st_mode : former.st_mode & ~(mode_t)S_IRWXG;
}

/* Opens a stream, its file with the permissions that were asked for, or that the file before it
 * had. */
static FILE *open_with_mode(int fd, const struct sc_outfile_place *place)
{
    mode_t mask = umask(0);
    umask(mask);
    mode_t wanted = is_by_umask(place) ? 0666 : 0600 | former_permissions(fd, place->path);
    fchmod(fd, wanted & 0666 & ~mask);
    return fdopen(fd, "wb");
}

/* Gives the stream a large buffer, so that fewer system calls are made, unless it is a terminal,
 * which is to show each line at once. */
static void buffer_much(FILE *stream)
{
    if (!isatty(fileno(stream)))
        setvbuf(stream, NULL, _IOFBF, 64 * 1024);
}

/* Removes the unfinished output when a signal ends the command (a signal handler). */
static void take_away(int number)
{
    char *path = unfinished;
    if (path)
        unlink(path);
    raise(number); /* which ends the process when the handler returns */
}

/* Lets signals that end this process remove the unfinished file first. The signal of a limit of
 * file sizes is ignored, so that the write fails instead. */
static void heed_signals(void)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU};
    struct sigaction before;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending[i],
                      &(struct sigaction){.sa_handler = take_away, .sa_flags = (int)SA_RESETHAND},
                      NULL);
}

/* Opens a file beside the one that is wanted, which it replaces when it is complete. */
static bool open_beside(struct sc_outfile *file, const struct sc_outfile_place *place)
{
    const char *path = place->path;
    if (!may_replace(path))
        return false;
    if (asprintf(&file->beside, "%s.XXXXXX", path) < 0)
        return refuse(path, "out of memory");
    heed_signals();
    int fd = mkostemp(file->beside, O_CLOEXEC);
    unfinished = fd >= 0 ? file->beside : NULL;
    file->stream = fd >= 0 ? open_with_mode(fd, place) : NULL;
    if (file->stream)
        return true;
    refuse(path, strerror(errno));
    unfinished = NULL;
    free(file->beside);
    return false;
}

/* Returns whether the file can be written, and prints why not, before long work is done for
 * nothing. */
bool sc_outfile_is_possible(const char *path)
{
    if (strcmp(path, "-") == 0)
        return true;
    if (path[0] == '\0')
        return refuse("-o", "the name is empty. Name a file, or - for standard output");
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool is_there = folder && access(folder, W_OK | X_OK) == 0;
    int error = folder ? errno : ENOMEM;
    free(folder);
    return is_there ? may_replace(path) : refuse(path, strerror(error));
}

/* Opens the output: stdout, or a file beside the path that takes its name when it is whole, so
 * that no half output is ever there. */
bool sc_outfile_open(struct sc_outfile *file, const struct sc_outfile_place *place)
{
    const char *path = place->path;
    bool is_beside = path && strcmp(path, "-") != 0;
    *file = (struct sc_outfile){.stream = stdout, .path = path ? path : "standard output"};
    if (is_beside && !open_beside(file, place))
        return false;
    buffer_much(file->stream);
    return true;
}

/* Ends the output, and puts the file in its place. Returns false with errno set on failure. */
static bool complete(struct sc_outfile *file)
{
    bool is_written = !ferror(file->stream) && fflush(file->stream) == 0;
    if (!file->beside)
        return is_written;
    if (!is_written)
        putc('\n', file->stream); /* which fails as what came before did: errno says why */
    is_written = fclose(file->stream) == 0 && is_written;
    return is_written && may_replace(file->path) && rename(file->beside, file->path) == 0;
}

/* Ends the output. Prints a message and returns false if it is not complete. */
bool sc_outfile_close(struct sc_outfile *file)
{
    errno = 0;
    bool is_complete = complete(file);
    if (!is_complete) {
        refuse(file->path, errno != 0 ? strerror(errno) : "a write failed");
        if (file->beside)
            unlink(file->beside);
    }
    unfinished = NULL;
    free(file->beside);
    return is_complete;
}

/* Opens a file to append to, made if it is not there. Anything else than a regular file is
 * refused: NULL and errno. */
FILE *sc_outfile_append(const char *path)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags, 0666);
    struct stat status;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fdopen(fd, "ab");
    close(fd);
    errno = ENOTSUP;
    return NULL;
}
