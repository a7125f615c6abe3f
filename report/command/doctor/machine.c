#define _GNU_SOURCE 1
#include "report/command/doctor/machine.h"

#include "report/command/doctor/asked.h"
#include "report/command/doctor/came_up.h"
#include "report/command/doctor/settings.h"
#include "report/command/preload.h"
#include "report/command/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- files of the kernel ---- */

enum { FILE_MAX_BYTES = 64 * 1024 };

/* Reads the file. Returns NULL if there is no such file, or it cannot be read. */
static const char *read_file(struct sc_scratch *scratch, const char *path)
{
    char *text = NULL;
    if (sc_regular_file_read(path, FILE_MAX_BYTES, &text, NULL) < 0)
        return NULL;
    const char *kept = sc_scratch_print(scratch, "%s", text);
    free(text);
    return kept;
}

/* Returns the number that the text begins with; SC_NOT_KNOWN: none. */
static long number_at(const char *text)
{
    char *end;
    long number = text ? strtol(text, &end, 10) : SC_NOT_KNOWN;
    return text && end != text ? number : SC_NOT_KNOWN;
}

/* Returns the number after a word that begins a line; SC_NOT_KNOWN: it is not there. */
static int number_after(const char *text, const char *word)
{
    const char *found = text ? strstr(text, word) : NULL;
    long number = found ? number_at(found + strlen(word)) : SC_NOT_KNOWN;
    return number >= 0 && number <= INT_MAX ? (int)number : SC_NOT_KNOWN;
}

/* Returns the word in brackets, as of "always [madvise] never", by which /sys shows a choice. */
static const char *choice_in(struct sc_scratch *scratch, const char *text)
{
    const char *start = text ? strchr(text, '[') : NULL;
    size_t length = start ? strcspn(start + 1, "]") : 0;
    return start ? sc_scratch_print(scratch, "%.*s", (int)length, start + 1) : NULL;
}

/* ---- the parts ---- */

/* Collects kernel, processor and C library. */
static void look_at_system(struct sc_machine_facts *facts, struct sc_scratch *scratch)
{
    struct utsname name;
    if (uname(&name) == 0) {
        facts->release = sc_scratch_print(scratch, "%s", name.release);
        facts->architecture = sc_scratch_print(scratch, "%s", name.machine);
        facts->is_wsl = strcasestr(name.release, "microsoft");
    }
    facts->libc_version = gnu_get_libc_version();
    facts->page_bytes = sysconf(_SC_PAGESIZE);
}

/* Collects what limits the process: seccomp, a debugger, ptrace's scope. */
static void look_at_limits(struct sc_machine_facts *facts, struct sc_scratch *scratch)
{
    const char *status = read_file(scratch, "/proc/self/status");
    facts->has_proc = access("/proc/self/maps", R_OK) == 0;
    facts->seccomp = number_after(status, "\nSeccomp:");
    facts->no_new_privileges = number_after(status, "\nNoNewPrivs:");
    facts->tracer = number_after(status, "\nTracerPid:");
    facts->ptrace_scope = (int)number_at(read_file(scratch, "/proc/sys/kernel/yama/ptrace_scope"));
}

/* Collects the limit on mappings, and the kernel's huge pages. */
static void look_at_memory(struct sc_machine_facts *facts, struct sc_scratch *scratch)
{
    static const char folder[] = "/sys/kernel/mm/transparent_hugepage";
    facts->max_map_count = number_at(read_file(scratch, "/proc/sys/vm/max_map_count"));
    facts->huge_pages =
        choice_in(scratch, read_file(scratch, sc_scratch_print(scratch, "%s/enabled", folder)));
    facts->huge_page_bytes =
        number_at(read_file(scratch, sc_scratch_print(scratch, "%s/hpage_pmd_size", folder)));
}

/* Finds the version of NVIDIA's kernel module in "NVRM version: NVIDIA UNIX x86_64 Kernel Module
 * 550.54.15 Tue ...", or of the open one in "... Open Kernel Module for x86_64 550.54.15 Release
 * Build ...". */
static const char *find_version(struct sc_scratch *scratch, const char *text)
{
    const char *at = text ? strstr(text, "Kernel Module") : NULL;
    while (at && *at != '\0' && *at != '\n') {
        size_t length = strcspn(at, " \n");
        size_t digits = strspn(at, "0123456789.");
        if (length > 0 && digits == length)
            return sc_scratch_print(scratch, "%.*s", (int)length, at);
        at += length + (at[length] == ' ');
    }
    return NULL;
}

/* Tries to open the file by which every process reaches NVIDIA's driver (/dev/dxg in WSL). Returns
 * 0 or an errno. */
static int try_device(void)
{
    int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        fd = open("/dev/dxg", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Collects the version of NVIDIA's kernel module, and whether its device can be opened. */
static void look_at_driver(struct sc_machine_facts *facts, struct sc_scratch *scratch)
{
    facts->module_version =
        find_version(scratch, read_file(scratch, "/proc/driver/nvidia/version"));
    facts->device_error = try_device();
}

/* Finds the library to preload, and the simulated GPU beside it, and reads the library's ELF
 * file. */
static void look_at_library(struct sc_machine_facts *facts, struct sc_scratch *scratch)
{
    facts->library = sc_preload_look(scratch, &facts->library_sought);
    const char *simulated = sc_scratch_print(scratch, "%s/sim", facts->library_sought);
    if (access(sc_scratch_print(scratch, "%s/libcuda.so.1", simulated), R_OK) == 0)
        facts->simulated = simulated;
    if (!facts->library)
        return;
    facts->is_preloadable = sc_preload_can_name(facts->library);
    int fd = sc_regular_file_open(facts->library, 0);
    if (fd < 0)
        return;
    sc_elf_facts_read(&facts->library_elf, scratch, fd);
    close(fd);
}

/* Collects all facts about this machine. The driver and the library are tried in children, as they
 * may crash. */
void sc_machine_look(struct sc_machine_facts *facts, struct sc_scratch *scratch, const char *folder,
                     const char *program)
{
    *facts = (struct sc_machine_facts){0};
    look_at_system(facts, scratch);
    look_at_limits(facts, scratch);
    look_at_memory(facts, scratch);
    look_at_driver(facts, scratch);
    look_at_library(facts, scratch);
    sc_settings_look(&facts->settings, scratch, program);
    sc_asked_plainly(&facts->plain, scratch, facts->library);
    if (!facts->library || !facts->is_preloadable)
        return;
    const char *report = sc_scratch_print(scratch, "%s/doctor.jsonl", folder);
    sc_asked_preloaded(&facts->preloaded, scratch, facts->library, report);
    sc_came_up_read(&facts->came_up, scratch, report);
    unlink(report);
}
