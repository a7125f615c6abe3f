// expect-exit: 0
//
// Names of files, and what the kernel says of files, on a page with the target of a copy in flight.
#include "in_flight.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

struct edge {
    char folder[48], one[64], two[64];
    char into[256];
    struct stat stat;
    struct stat64 stat64;
    struct statx statx;
    struct statfs statfs;
    struct statvfs statvfs;
    struct timeval times[2];
    struct timespec exact[2];
    struct utimbuf rounded;
};

static struct edge *edge;

/* Descriptors have numbers that may differ. */
static bool opens(int fd)
{
    bool opened = fd >= 0;
    if (opened)
        close(fd);
    return opened;
}

static bool opens_stream(FILE *stream)
{
    bool opened = stream != NULL;
    if (opened)
        fclose(stream);
    return opened;
}

static bool opens_folder(DIR *folder)
{
    bool opened = folder != NULL;
    if (opened)
        closedir(folder);
    return opened;
}

static void opening(void)
{
    SHOW_BESIDE(mkdir(edge->folder, 0700));
    SHOW_BESIDE(opens(open(edge->one, O_RDWR | O_CREAT, 0600)));
    SHOW_BESIDE(opens(open64(edge->one, O_RDONLY)));
    SHOW_BESIDE(opens(openat(AT_FDCWD, edge->one, O_RDONLY)));
    SHOW_BESIDE(opens(openat64(AT_FDCWD, edge->one, O_RDONLY)));
    SHOW_BESIDE(opens(creat(edge->one, 0600)));
    SHOW_BESIDE(opens(open(edge->two, O_RDONLY)));
    SHOW_BESIDE(opens_stream(fopen(edge->one, "r")));
    SHOW_BESIDE(opens_stream(fopen64(edge->one, "r+")));
    SHOW_BESIDE(opens_folder(opendir(edge->folder)));
    SHOW_BESIDE(opens(memfd_create(edge->one, 0)));
}

static void names(void)
{
    int watch = inotify_init1(IN_NONBLOCK);
    SHOW_BESIDE(access(edge->one, R_OK));
    SHOW_BESIDE(faccessat(AT_FDCWD, edge->one, X_OK, 0) == -1 && errno == EACCES);
    SHOW_BESIDE(chmod(edge->one, 0640));
    SHOW_BESIDE(fchmodat(AT_FDCWD, edge->one, 0600, 0));
    SHOW_BESIDE(chown(edge->one, (uid_t)-1, (gid_t)-1));
    SHOW_BESIDE(fchownat(AT_FDCWD, edge->one, (uid_t)-1, (gid_t)-1, 0));
    SHOW_BESIDE(truncate(edge->one, 100));
    SHOW_BESIDE(link(edge->one, edge->two));
    SHOW_BESIDE(unlink(edge->two));
    SHOW_BESIDE(symlink(edge->one, edge->two));
    SHOW_BESIDE(readlink(edge->two, edge->into, sizeof edge->into) == (ssize_t)strlen(edge->one));
    SHOW_BESIDE(readlinkat(AT_FDCWD, edge->one, edge->into, 10));
    SHOW_BESIDE(remove(edge->two));
    SHOW_BESIDE(rename(edge->one, edge->two));
    SHOW_BESIDE(renameat(AT_FDCWD, edge->two, AT_FDCWD, edge->one));
    SHOW_BESIDE(linkat(AT_FDCWD, edge->one, AT_FDCWD, edge->two, 0));
    SHOW_BESIDE(unlinkat(AT_FDCWD, edge->two, 0));
    SHOW_BESIDE(mkfifo(edge->two, 0600));
    SHOW_BESIDE(unlink(edge->two));
    SHOW_BESIDE(utimes(edge->one, edge->times));
    SHOW_BESIDE(utime(edge->one, &edge->rounded));
    SHOW_BESIDE(utimensat(AT_FDCWD, edge->one, edge->exact, 0));
    SHOW_BESIDE(inotify_add_watch(watch, edge->one, IN_OPEN));
    close(watch);
}

static void attributes(int fd)
{
    SHOW_BESIDE(stat(edge->one, &edge->stat));
    SHOW(edge->stat.st_size);
    SHOW_BESIDE(lstat(edge->one, &edge->stat));
    SHOW_BESIDE(fstat(fd, &edge->stat));
    SHOW_BESIDE(fstatat(AT_FDCWD, edge->one, &edge->stat, 0));
    SHOW_BESIDE(stat64(edge->one, &edge->stat64));
    SHOW_BESIDE(lstat64(edge->one, &edge->stat64));
    SHOW_BESIDE(fstat64(fd, &edge->stat64));
    SHOW_BESIDE(fstatat64(AT_FDCWD, edge->two, &edge->stat64, 0));
    SHOW_BESIDE(statx(AT_FDCWD, edge->one, 0, STATX_SIZE, &edge->statx));
    SHOW(edge->statx.stx_size);
    SHOW_BESIDE(statfs(edge->one, &edge->statfs));
    SHOW_BESIDE(fstatfs(fd, &edge->statfs));
    SHOW_BESIDE(statvfs(edge->one, &edge->statvfs));
    SHOW_BESIDE(futimens(fd, edge->exact));
    strcpy(edge->two, "user.sc");
    SHOW_BESIDE(getxattr(edge->one, edge->two, edge->into, sizeof edge->into) == -1 &&
                errno != EFAULT);
    SHOW_BESIDE(setxattr(edge->one, edge->two, edge->into, 4, 0) == 0 || errno != EFAULT);
    SHOW_BESIDE(listxattr(edge->one, edge->into, sizeof edge->into) >= 0 || errno != EFAULT);
}

static void folders(void)
{
    SHOW_BESIDE(chdir(edge->folder));
    SHOW_BESIDE(getcwd(edge->into, sizeof edge->into) == edge->into);
    SHOW(strcmp(edge->into, edge->folder));
    CHECK(chdir("/"));
    SHOW_BESIDE(rmdir(edge->folder));
    CHECK(unlink(edge->one));
    SHOW_BESIDE(rmdir(edge->folder));
}

/* What the kernel refuses without us. */
static void mistakes(void)
{
    SHOW_BESIDE(open((const char *)8, O_RDONLY));
    SHOW_BESIDE(stat(edge->folder, (struct stat *)8));
    SHOW_BESIDE(readlink((const char *)-8, edge->into, 10));
    SHOW_BESIDE(rename(edge->folder, NULL));
    memset(edge, 'x', EDGE - 1);
    SHOW_BESIDE(chdir((const char *)edge));
}

int main(void)
{
    edge = (struct edge *)edge_start();
    snprintf(edge->folder, sizeof edge->folder, "/tmp/safecopy-io-files-%d", getpid());
    snprintf(edge->one, sizeof edge->one, "%s/one", edge->folder);
    snprintf(edge->two, sizeof edge->two, "%s/two", edge->folder);
    opening();
    names();
    int fd = open(edge->one, O_RDWR);
    attributes(fd);
    close(fd);
    folders();
    mistakes();
    return 0;
}
