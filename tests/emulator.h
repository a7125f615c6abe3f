/* What an emulator of another processor may lack, found by trying, so that the other tests of a
 * file run there. On x86-64 nothing is asked: all tests run. Seen of qemu-user 7.2.
 */
#ifndef SC_TESTS_EMULATOR_H
#define SC_TESTS_EMULATOR_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMULATOR_HELPER static __attribute__((unused))

#ifdef __x86_64__
enum { MAY_BE_EMULATED = 0 };
#else
enum { MAY_BE_EMULATED = 1 };
#endif

/* process_vm_readv, by which memory is read that may not be there (common/peek.h). */
EMULATOR_HELPER bool kernel_peeks(void)
{
    char from = 1;
    char into = 0;
    struct iovec local = {&into, 1};
    struct iovec remote = {&from, 1};
    return !MAY_BE_EMULATED || process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ||
           errno != ENOSYS;
}

/* /proc/self/maps says of a page that code in it may run and be written. */
EMULATOR_HELPER bool maps_show_written_code(void)
{
    char line[512];
    unsigned long start = 0;
    unsigned long end = 0;
    bool shown = !MAY_BE_EMULATED;
    void *page =
        mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (!shown && maps && fgets(line, sizeof line, maps))
        shown = sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= (uintptr_t)page &&
                (uintptr_t)page < end && strstr(line, " rwxp ");
    if (maps)
        fclose(maps);
    munmap(page, 1);
    return shown;
}

/* The 22nd word of a line of /proc, of which the second may have blanks: when the process began. */
EMULATOR_HELPER unsigned long long read_start(const char *path)
{
    char line[1024] = "";
    unsigned long long start = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (end)
        sscanf(end, ") %*c%*d%*d%*d%*d%*d%*u%*u%*u%*u%*u%*u%*u%*d%*d%*d%*d%*d%*d%llu", &start);
    return start;
}

/* /proc/self/stat says of a forked child when that began, and not its parent. The child begins some
 * ticks of a hundredth of a second later. */
EMULATOR_HELPER bool stat_is_of_child(void)
{
    if (!MAY_BE_EMULATED)
        return true;
    usleep(50 * 1000);
    pid_t child = fork();
    if (child == 0)
        _exit(read_start("/proc/self/stat") == read_start("/proc/thread-self/stat") ? 0 : 1);
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

/* This program can be started again. It does nothing and ends with 0 where it is told `nothing`. */
EMULATOR_HELPER bool can_start_itself(const char *nothing)
{
    if (!MAY_BE_EMULATED)
        return true;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "itself", nothing, NULL);
        _exit(errno == ENOEXEC ? 1 : 0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

#endif
