#define _GNU_SOURCE 1
#include "report/command/doctor/ask.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report/command/scratch.h"
#include "report/libraries.h"
#include "report/userfaultfd.h"

/* As cuda.h declares them; the command knows no CUDA. */
typedef int init_function(unsigned flags);
typedef int number_function(int *number);
typedef int name_function(char *name, int size, int device);

enum { SUCCESS = 0, NAME_BYTES = 256 };

/* ---- answers ---- */

/* Writes one fact as a line of JSON, at once: the next question may end the process. */
static void answer(const char *key, json_t *value)
{
    json_t *line = json_pack("{s:o}", key, value ? value : json_null());
    if (line)
        json_dumpf(line, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    fputc('\n', stdout);
    fflush(stdout);
    json_decref(line);
}

/* Answers with a text; one that is not UTF-8, which JSON wants, is replaced. */
static void answer_text(const char *key, const char *text)
{
    json_t *value = json_string(text);
    answer(key, value ? value : json_string("(not in UTF-8)"));
}

/* Writes an answer to the parent: a number. */
static void answer_number(const char *key, int number)
{
    answer(key, json_integer(number));
}

/* Tells the parent which question is tried now: if it ends the process, the parent knows which one
 * did. */
static void begin(const char *question)
{
    answer_text("begun", question);
}

/* ---- libraries ---- */

/* Answers from which file the library was loaded. */
static void answer_path(const char *key, void *handle)
{
    struct link_map *map;
    if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
        answer_text(key, map->l_name);
}

typedef void *open_function(const char *name, int flags);

/* Loads a library and answers with its path. */
static void *load(const char *key, const char *name, open_function *open_library)
{
    begin(name);
    void *handle = open_library(name, RTLD_NOW | RTLD_LOCAL);
    answer_path(key, handle);
    return handle;
}

/* Answers with the libunwind that the library would load (interpose/base/unwind_library.c). */
static void ask_unwind(const char *library)
{
    static const char *const names[] = {"libsafecopy-unwind.so.8", "libunwind.so.8"};
    struct sc_scratch scratch = {0};
    const char *slash = strrchr(library, '/');
    void *found = NULL;
    for (size_t i = 0; slash && !found && i < sizeof names / sizeof names[0]; i++)
        found = load(
            "unwind",
            sc_scratch_print(&scratch, "%.*s%s", (int)(slash - library + 1), library, names[i]),
            sc_libraries_open);
    if (!found)
        load("unwind", "libunwind.so.8", sc_libraries_open);
    sc_scratch_free(&scratch);
}

/* Answers with the CUDA runtimes that a program would find. */
static void ask_runtimes(void)
{
    load("runtime-13", "libcudart.so.13", dlopen);
    load("runtime-12", "libcudart.so.12", dlopen);
    load("runtime-11", "libcudart.so.11.0", dlopen);
}

/* ---- the kernel ---- */

/* Tries process_vm_readv on the process itself, which a seccomp filter may refuse or kill for. */
static long read_own_memory(void)
{
    int number = 1, copy = 0;
    struct iovec local = {&copy, sizeof copy}, remote = {&number, sizeof number};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

/* Tries the call that sends a signal to a thread. Signal 0 is sent to nobody. */
static long send_own_signal(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), 0, &info);
}

/* Tries to open /proc/self/mem, by which the library reads memory that may be closed. */
static long open_own_memory(void)
{
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? fd : close(fd);
}

/* Tries to open /proc/self/maps, by which the library finds mapped files. */
static long open_own_maps(void)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? fd : close(fd);
}

/* Tries mincore on a page that is mapped, which a seccomp filter may refuse. */
static long ask_for_pages(void)
{
    unsigned char page;
    return mincore((void *)((uintptr_t)&read_own_memory & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1)),
                   1, &page);
}

/* Tries whether a pipe can be made. Returns a negative value if that fails. */
static long open_pipe(void)
{
    int ends[2];
    long result = pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    if (result == 0)
        result = close(ends[0]) | close(ends[1]);
    return result;
}

/* What the library asks the kernel for (docs/limits.md, Sandboxes) that others seldom do. A filter
 * may refuse it, or kill. */
static const struct {
    const char *name;
    long (*make)(void);
} calls[] = {
    {"opening /proc/self/maps", open_own_maps},
    {"opening /proc/self/mem", open_own_memory},
    {"rt_tgsigqueueinfo", send_own_signal},
    {"mincore", ask_for_pages},
    {"pipe2", open_pipe},
};

/* Tries the system calls that the library needs; answers with the first that is refused. */
static void ask_for_calls(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin(calls[i].name);
        if (calls[i].make() >= 0)
            continue;
        answer_number("error", errno);
        answer_text("refused-call", calls[i].name);
        return;
    }
}

/* Tries whether the process may read its own memory by process_vm_readv, and answers the error if
 * not. */
static void ask_for_reads(void)
{
    begin("process_vm_readv");
    if (read_own_memory() < 0)
        answer_number("read-error", errno);
}

/* Answers whether userfaultfd can be had, by the library's own code. That runs in a child where a
 * filter may kill. */
static void ask_for_userfaultfd(void)
{
    enum sc_userfaultfd_state state;
    begin("userfaultfd");
    int opened = sc_userfaultfd_open(&state);
    if (opened >= 0)
        close(opened);
    answer_number("userfaultfd", (int)state);
}

/* ---- the driver ---- */

/* Finds a function of the driver. The toolkit's libcuda for linking has functions that are not
 * defined, or refuse all. */
static void *find_function(void *driver, const char *name)
{
    void *found = dlsym(driver, name);
    Dl_info where;
    void *symbol = NULL;
    bool is_stub = found && dladdr1(found, &where, &symbol, RTLD_DL_SYMENT) != 0 && symbol &&
                   ((const ElfW(Sym) *)symbol)->st_shndx == SHN_UNDEF;
    if (is_stub)
        answer("stub", json_true());
    return is_stub ? NULL : found;
}

/* Asks the driver for a number, by the function of this name. */
static void ask_number(void *driver, const char *key, const char *name)
{
    number_function *function = (number_function *)find_function(driver, name);
    int number;
    begin(name);
    if (function && function(&number) == SUCCESS)
        answer_number(key, number);
}

/* Asks the driver for the first device's name. */
static void ask_name(void *driver)
{
    name_function *function = (name_function *)find_function(driver, "cuDeviceGetName");
    char name[NAME_BYTES] = "";
    begin("cuDeviceGetName");
    if (function && function(name, sizeof name - 1, 0) == SUCCESS)
        answer_text("device", name);
}

/* Loads the driver, starts it, and asks it for its version and devices. */
static void ask_driver(void)
{
    begin("libcuda.so.1");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        const char *why = dlerror();
        answer_text("refused", why ? why : "");
        return;
    }
    answer_path("driver", driver);
    ask_number(driver, "version", "cuDriverGetVersion");
    init_function *init = (init_function *)find_function(driver, "cuInit");
    if (!init)
        return;
    begin("cuInit");
    int error = init(0);
    answer_number("init", error);
    if (error != SUCCESS)
        return;
    ask_number(driver, "devices", "cuDeviceGetCount");
    ask_name(driver);
}

/* Answers whether LD_PRELOAD has put the library into this process. */
static void ask_library(const char *library)
{
    if (library[0] != '\0' && dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
        answer("loaded", json_true());
}

/* Runs in the child of `safecopy doctor`: tries one function of the machine's after another, each
 * of which may crash or hang the child, and writes each answer as a line of JSON. */
int sc_ask(const char *library)
{
    ask_library(library);
    ask_unwind(library);
    ask_runtimes();
    ask_for_calls();
    ask_for_reads();
    ask_for_userfaultfd();
    ask_driver();
    answer("ended", json_true());
    return 0;
}
