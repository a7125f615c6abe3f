#define _GNU_SOURCE 1
#include "report/command/doctor/diagnosis.h"

#include "report/command/doctor/architecture.h"
#include "report/command/doctor/driver_errors.h"
#include "report/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define OK(id, ...) sc_diagnosis_add(diagnosis, SC_LEVEL_OK, section, id, NULL, __VA_ARGS__)
#define NOTE(id, remedy, ...)                                                                      \
    sc_diagnosis_add(diagnosis, SC_LEVEL_NOTE, section, id, remedy, __VA_ARGS__)
#define PROBLEM(id, remedy, ...)                                                                   \
    sc_diagnosis_add(diagnosis, SC_LEVEL_PROBLEM, section, id, remedy, __VA_ARGS__)

/* ---- the system ---- */

/* Is the version, "MAJOR.MINOR...", older than this one? One that cannot be read is not. */
static bool is_older(const char *version, unsigned major, unsigned minor)
{
    unsigned own_major, own_minor;
    if (!version || sscanf(version, "%u.%u", &own_major, &own_minor) != 2)
        return false;
    return own_major < major || (own_major == major && own_minor < minor);
}

static const char *known(const char *text)
{
    return text ? text : "?";
}

/* Judges kernel, processor and C library. */
static void of_system(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "system";
    OK("system", "Linux %s on %s, glibc %s, pages of %ld KB", known(facts->release),
       known(facts->architecture), known(facts->libc_version), facts->page_bytes / 1024);
    if (is_older(facts->release, 4, 18))
        PROBLEM("old-kernel", "Use Linux 4.18 or later", "the kernel is older than 4.18");
    if (is_older(facts->libc_version, 2, 28))
        PROBLEM("old-glibc", "Use a system with glibc 2.28 or later",
                "glibc is older than 2.28, the oldest that the library runs with");
    if (facts->is_wsl)
        NOTE("wsl", NULL, "Windows' subsystem for Linux: the library was never run there");
}

/* ---- what the kernel may refuse ---- */

/* Does the library read memory through a pipe after this error of process_vm_readv
 * (common/peek.c)? Then less is lost. */
static bool is_pipe_instead(int error)
{
    return error == EPERM || error == ENOSYS || error == EACCES;
}

/* Adds findings that say what a seccomp filter refuses of the library's system calls. */
static void of_filter(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "limits";
    static const char remedy[] = "Have the seccomp profile let it pass (docker run --security-opt "
                                 "seccomp=FILE, or --cap-add "
                                 "SYS_PTRACE with an old Docker); docs/limits.md lists all calls";
    const struct sc_asked_facts *plain = &facts->plain;
    if (plain->signal == SIGSYS)
        PROBLEM("call-kills", remedy, "a seccomp filter kills at a call that the library makes: %s",
                known(plain->begun));
    else if (plain->refused_call)
        PROBLEM("call-refused", remedy,
                "a call that the library makes is refused, so less is "
                "found: %s (%s)",
                plain->refused_call, strerror(plain->call_error));
    else if (plain->read_error && !is_pipe_instead(plain->read_error))
        PROBLEM("call-refused", remedy,
                "a call that the library makes is refused, so less is "
                "found: process_vm_readv (%s)",
                strerror(plain->read_error));
    else if (plain->read_error)
        NOTE("call-refused", remedy,
             "process_vm_readv is refused (%s): the library reads memory through a pipe, which "
             "takes longer, and stacks have no Python frames",
             strerror(plain->read_error));
    else if (facts->seccomp > 0)
        NOTE("seccomp", NULL,
             "a seccomp filter is on, as in containers: it lets pass what was "
             "tried of the library's calls");
    else if (facts->seccomp == 0)
        OK("no-seccomp", "no seccomp filter");
}

/* Adds findings that say what the system forbids this process. */
static void of_limits(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "limits";
    if (!facts->has_proc)
        PROBLEM("no-proc", "Mount /proc", "there is no /proc, or it cannot be read");
    else
        of_filter(diagnosis, facts);
    if (facts->tracer > 0)
        NOTE("traced", NULL, "this process is traced by process %d (a debugger, strace)",
             facts->tracer);
    if (facts->ptrace_scope > 0)
        OK("ptrace-scope",
           "ptrace is restricted (kernel.yama.ptrace_scope is %d), which debuggers "
           "meet and the library does not: it reads its own process alone",
           facts->ptrace_scope);
    else
        OK("ptrace", "ptrace is not restricted by yama");
}

/* ---- memory ---- */

enum { USUAL_MAP_COUNT = 65530, FIT_PAGE_BYTES = 4096, FIT_HUGE_PAGE_BYTES = 2 << 20 };

/* Adds findings that say whether pinned memory can be served in huge pages. */
static void of_huge_pages(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "memory";
    if (!facts->huge_pages)
        NOTE("huge-pages-unknown", "Mount /sys",
             "/sys does not tell of transparent huge pages: pinned memory is the driver's own");
    else if (strcmp(facts->huge_pages, "never") == 0)
        NOTE(
            "no-huge-pages", "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled (as root)",
            "transparent huge pages are off: pinned memory is the driver's own, and slower to pin");
    else if (facts->page_bytes != FIT_PAGE_BYTES || facts->huge_page_bytes != FIT_HUGE_PAGE_BYTES)
        NOTE("other-huge-pages", NULL,
             "pages are not of 4 KB and 2 MB: pinned memory is the driver's own");
    else if (is_older(facts->release, 6, 1))
        NOTE("old-huge-pages", NULL,
             "Linux before 6.1 makes no huge pages on demand: pinned memory is the driver's own");
    else
        OK("huge-pages", "transparent huge pages (%s) serve pinned memory", facts->huge_pages);
}

/* Judges the limit on mappings: each guarded buffer (whose pages are protected) may split one. */
static void of_memory(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "memory";
    static const char remedy[] = "sysctl -w vm.max_map_count=262144 (as root)";
    if (facts->max_map_count == SC_NOT_KNOWN)
        NOTE("map-count-unknown", NULL, "vm.max_map_count cannot be read");
    else if (facts->max_map_count < USUAL_MAP_COUNT)
        PROBLEM("low-map-count", remedy,
                "vm.max_map_count is %ld, less than the kernel's default: few buffers in flight "
                "can be guarded",
                facts->max_map_count);
    else
        OK("map-count", "vm.max_map_count is %ld", facts->max_map_count);
    of_huge_pages(diagnosis, facts);
}

/* ---- the library ---- */

/* Returns the first line of what a process said, without its end. */
static const char *first_line(struct sc_diagnosis *diagnosis, const char *said)
{
    return sc_scratch_print(diagnosis->scratch, "%.*s", (int)strcspn(said, "\n"), said);
}

/* Returns what helps if the library could not be loaded, by what the loader said. */
static const char *remedy_of_loading(const char *said)
{
    if (strstr(said, "GLIBC_"))
        return "Take the wheel or the tarball of libsafecopy, which run with glibc 2.28: what "
               "`make` builds wants the glibc that it was built with";
    if (strstr(said, "static TLS"))
        return "Take other libraries out of LD_PRELOAD";
    if (strstr(said, "failed to map") || strstr(said, "ermission denied"))
        return "Put the library on a file system that is not mounted noexec, and make it readable";
    return "Install libsafecopy anew, as a whole";
}

/* Adds findings that say whether a process with the library has come up, and where it stopped if
 * not. */
static void of_start(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "library";
    static const char remedy[] = "Tell the project, with this output; SAFECOPY_OPTIONS=mode=off "
                                 "switches the library off until then";
    bool works_without = facts->plain.has_ended && facts->plain.init_error == 0;
    if (!works_without)
        NOTE("not-tried", NULL, "it was not tried with the driver, which could not be started");
    else if (!facts->preloaded.has_ended)
        PROBLEM("start-fails", remedy, "with the preload a process %s at %s",
                facts->preloaded.is_late ? "is stuck" : "ends", known(facts->preloaded.begun));
    else if (facts->preloaded.is_late && !facts->plain.is_late)
        PROBLEM("end-fails", remedy, "with the preload a process does not end");
    else if (!facts->came_up.has_run || facts->came_up.is_unreached)
        PROBLEM("start-unseen", remedy,
                "a process started CUDA with the preload, and the library did not notice");
    else
        OK("comes-up", "it comes up with the driver, and writes its report");
}

/* Adds findings that say which libunwind walks the stacks. */
static void of_unwind(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "library";
    if (!facts->plain.has_started)
        return;
    if (facts->plain.unwind)
        OK("unwind", "stacks are walked by %s", facts->plain.unwind);
    else
        PROBLEM("no-unwind",
                "Install libunwind (Debian: apt install libunwind8), or put libunwind.so.8, or the "
                "libsafecopy-unwind.so.8 of another installation, beside the library",
                "there is neither libsafecopy-unwind.so.8 beside the library nor libunwind.so.8: "
                "stacks have one frame");
}

/* Adds findings that say whether the library is found, fits this machine, and can be preloaded. */
static void of_library(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "library";
    const struct sc_elf_facts *elf = &facts->library_elf;
    if (!facts->library)
        PROBLEM("library-not-found", "Install the command and the library together",
                "libsafecopy.so is neither in %s nor in %s/../lib", known(facts->library_sought),
                known(facts->library_sought));
    else if (!facts->is_preloadable)
        PROBLEM("library-path", "Move it, or link to it from a path without",
                "%s cannot be preloaded from a path with a blank or a colon", facts->library);
    else if (!elf->is_elf || elf->machine != sc_architecture_own() || !elf->is_64_bit)
        PROBLEM("library-architecture", "Install libsafecopy for this machine",
                "%s is not for this machine", facts->library);
    else if (!facts->preloaded.has_library && facts->preloaded.signal != 0)
        PROBLEM("library-crashes", "Install libsafecopy anew, as a whole; else tell the project",
                "%s ends a process into which it is preloaded (signal %d)", facts->library,
                facts->preloaded.signal);
    else if (!facts->preloaded.has_library)
        PROBLEM("library-not-loaded", remedy_of_loading(facts->preloaded.said),
                "%s is not loaded by a preload: %s", facts->library,
                facts->preloaded.said[0] != '\0' ? first_line(diagnosis, facts->preloaded.said)
                                                 : "nothing was said of it");
    else if (facts->came_up.version && strcmp(facts->came_up.version, SC_VERSION) != 0)
        PROBLEM("library-version", "Install the command and the library together",
                "%s is of version %s, and this command of %s", facts->library,
                facts->came_up.version, SC_VERSION);
    else
        OK("library-loads", "%s is loaded by a preload", facts->library);
    if (facts->preloaded.has_library)
        of_start(diagnosis, facts);
    of_unwind(diagnosis, facts);
}

/* ---- the driver ---- */

static const char no_driver_in_wsl[] = "Install NVIDIA's driver in Windows, and no other one here: "
                                       "libcuda is in /usr/lib/wsl/lib";

/* Returns what helps where there is no driver. */
static const char *remedy_without_driver(struct sc_diagnosis *diagnosis,
                                         const struct sc_machine_facts *facts)
{
    if (facts->is_wsl)
        return no_driver_in_wsl;
    return sc_scratch_print(diagnosis->scratch,
                            "Install NVIDIA's driver; start a container with --gpus all (NVIDIA "
                            "Container Toolkit). Without a GPU take the simulated one%s: "
                            "LD_LIBRARY_PATH=%s",
                            facts->simulated ? "" : ", in the folder of a built checkout",
                            facts->simulated ? facts->simulated : "$PWD/out/sim");
}

/* Adds findings that say why the driver could not be started. */
static void say_refusal(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "driver";
    const struct sc_driver_error *error = sc_driver_errors_find(facts->plain.init_error);
    if (facts->visible_devices && facts->visible_devices[0] == '\0')
        PROBLEM("devices-hidden", "unset CUDA_VISIBLE_DEVICES",
                "cuInit failed (%d): CUDA_VISIBLE_DEVICES is empty, and hides every GPU",
                facts->plain.init_error);
    else
        PROBLEM("init-failed", error->remedy, "cuInit failed (%d%s%s): %s", facts->plain.init_error,
                error->name ? ", " : "", error->name ? error->name : "", error->meaning);
}

/* Adds findings that say what GPUs the driver sees, or why none. */
static void say_devices(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "driver";
    if (facts->device_error == EACCES || facts->device_error == EPERM)
        PROBLEM("device-refused",
                "Allow it: --gpus all for a container, the group of /dev/nvidia* for a user",
                "the device file of the driver may not be opened: %s",
                strerror(facts->device_error));
    if (facts->plain.init_error > 0)
        say_refusal(diagnosis, facts);
    else if (facts->plain.init_error == 0 && facts->plain.device_count > 0)
        OK("devices", "%d GPU%s, the first: %s", facts->plain.device_count,
           facts->plain.device_count > 1 ? "s" : "", known(facts->plain.device));
    else if (facts->plain.init_error == 0)
        PROBLEM("no-devices", sc_driver_errors_find(100)->remedy,
                "the driver starts, and sees no "
                "GPU");
    else if (!facts->plain.has_ended && facts->plain.begun && facts->plain.signal != SIGSYS)
        PROBLEM("driver-crashes", "Reinstall NVIDIA's driver; see dmesg",
                "a process that asks the driver %s at %s",
                facts->plain.is_late ? "is stuck" : "ends", facts->plain.begun);
}

/* Adds findings that say which driver there is, and whether it starts. */
static void of_driver(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "driver";
    const struct sc_asked_facts *plain = &facts->plain;
    if (facts->module_version)
        OK("kernel-module", "NVIDIA's kernel module %s", facts->module_version);
    if (!plain->has_started)
        PROBLEM("not-asked", "See whether /proc is mounted, and processes may be started",
                "no process could be started to ask the driver");
    else if (!plain->driver && plain->refused)
        PROBLEM("driver-not-found", remedy_without_driver(diagnosis, facts),
                "libcuda.so.1 is not loaded: %s", plain->refused);
    else if (plain->is_stub)
        PROBLEM("driver-is-stub", sc_driver_errors_find(34)->remedy,
                "%s is for linking alone, and no driver", known(plain->driver));
    else if (plain->driver && plain->driver_version != SC_NOT_KNOWN)
        OK("driver", "%s, for CUDA %d.%d", plain->driver, plain->driver_version / 1000,
           plain->driver_version % 1000 / 10);
    else if (plain->driver)
        NOTE("driver-version", NULL, "%s does not say its version", plain->driver);
    say_devices(diagnosis, facts);
}

/* ---- the runtime and CUPTI ---- */

/* Says where the CUDA runtime is. That it is nowhere is no problem: programs link it
 * statically. */
static void of_runtime(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "runtime";
    bool is_found = false;
    for (size_t i = 0; i < SC_ASKED_RUNTIMES; i++) {
        if (facts->plain.runtimes[i])
            OK("cudart", "%s", facts->plain.runtimes[i]);
        is_found = is_found || facts->plain.runtimes[i];
    }
    if (!is_found)
        OK("no-cudart", "no libcudart where the loader looks: most programs bring their own");
}

/* States of CUPTI (docs/report.md, summary), what they mean, and what helps. The last row is for
 * others. */
static const char *const cupti_states[][3] = {
    {"absent", "there is no libcupti", "Set CUPTI_PATH to the folder of one, or CUDA_HOME"},
    {"too-old", "it is older than what the library asks for",
     "Set CUPTI_PATH to a newer one; it comes with each toolkit"},
    {"held", "another tool has it", "End the profiler that runs, or that is preloaded"},
    {"failed", "it refuses", "Set CUPTI_PATH to one of the driver's version"},
    {NULL, "it does not listen", NULL},
};

/* Adds findings that say whether CUPTI can be used, and what is missing without it. */
static void of_cupti(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    static const char section[] = "cupti";
    const char *state = facts->came_up.cupti_state, *detail = facts->came_up.cupti_detail;
    size_t row = 0;
    if (!state) {
        NOTE("cupti-unknown", NULL, "not asked, since the library did not come up");
        return;
    }
    if (strcmp(state, "listening") == 0) {
        OK("cupti", "%s answers: audit, names of runtime functions, timeline",
           known(facts->came_up.cupti_library));
        return;
    }
    while (cupti_states[row][0] && strcmp(state, cupti_states[row][0]) != 0)
        row++;
    NOTE("cupti-unusable", cupti_states[row][2],
         "%s (%s): no audit, no names of runtime functions, no timeline", cupti_states[row][1],
         detail ? detail : state);
}

/* Judges all that was found on the machine, in the order in which it is shown. */
void sc_diagnosis_of_machine(struct sc_diagnosis *diagnosis, const struct sc_machine_facts *facts)
{
    of_system(diagnosis, facts);
    of_limits(diagnosis, facts);
    of_memory(diagnosis, facts);
    of_driver(diagnosis, facts);
    of_runtime(diagnosis, facts);
    of_library(diagnosis, facts);
    of_cupti(diagnosis, facts);
    sc_diagnosis_of_guard(diagnosis, facts);
    sc_diagnosis_of_settings(diagnosis, &facts->settings);
}
