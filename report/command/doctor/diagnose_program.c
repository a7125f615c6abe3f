#define _GNU_SOURCE 1
#include "report/command/doctor/diagnosis.h"

#include "report/command/doctor/architecture.h"

#include <errno.h>
#include <string.h>

static const char section[] = "program";

#define OK(id, ...) sc_diagnosis_add(diagnosis, SC_LEVEL_OK, section, id, NULL, __VA_ARGS__)
#define NOTE(id, ...) sc_diagnosis_add(diagnosis, SC_LEVEL_NOTE, section, id, NULL, __VA_ARGS__)
#define PROBLEM(id, remedy, ...)                                                                   \
    sc_diagnosis_add(diagnosis, SC_LEVEL_PROBLEM, section, id, remedy, __VA_ARGS__)

/* ---- whether there is a program ---- */

/* Returns the file that runs in the end: behind scripts, the interpreter. */
static const struct sc_file_facts *last_of(const struct sc_program_facts *facts)
{
    return &facts->files[facts->count - 1];
}

/* Is it a file that can be run, though perhaps not read? */
static bool is_there(const struct sc_file_facts *file)
{
    return (file->error == 0 || file->error == EACCES) && !file->is_folder && file->is_executable;
}

static bool is_no_program(const struct sc_file_facts *file)
{
    return file->kind == SC_FILE_OTHER;
}

/* Adds findings that say why there is no program under the name that was given. */
static void say_absent(struct sc_diagnosis *diagnosis, const struct sc_file_facts *file,
                       bool is_interpreter)
{
    bool is_seen = file->error == 0 || file->error == EACCES;
    if (file->error == ENOENT && is_interpreter)
        PROBLEM("interpreter-not-found", "Install it, or name another in the script's first line",
                "%s is not there, which is to run the script", file->path);
    else if (file->path[0] == '\0')
        PROBLEM("program-not-found", "Name its path, or a program of PATH",
                "the name of the program is empty");
    else if (file->is_beside && is_no_program(file))
        PROBLEM("program-not-found", "Name a program",
                "%s is no program: neither an ELF program nor a script with a #! line", file->path);
    else if (file->is_beside)
        PROBLEM("program-not-found", "Name it with its folder: ./NAME",
                "there is no %s in PATH, but in this folder", file->path);
    else if (file->error == ENOENT)
        PROBLEM("program-not-found", "Name its path, or a program of PATH", "there is no %s",
                file->path);
    else if (file->is_folder)
        PROBLEM("program-is-folder", "Name a file in it", "%s is a folder", file->path);
    else if (file->error == ENOTSUP)
        PROBLEM("program-not-readable", "Name a file", "%s is a device, a pipe or a socket",
                file->path);
    else if (is_seen && !file->is_executable && is_no_program(file))
        PROBLEM("program-not-executable", "Name a program, or what is to read it before it",
                "%s is no program: neither an ELF program nor a script with a #! line", file->path);
    else if (is_seen && !file->is_executable)
        PROBLEM("program-not-executable",
                "chmod +x it, or name the program that is to read it before it",
                "%s may not be executed", file->path);
    else
        PROBLEM("program-not-readable", "See who may read it, and that it is a file",
                "%s cannot be looked at: %s", file->path, strerror(file->error));
}

/* ---- whether a preload reaches it ---- */

static bool has_word(const char *text, const char *word)
{
    return text && strstr(text, word);
}

/* Does the program run with musl in place of glibc? The library needs glibc, so it cannot be
 * preloaded there. */
static bool is_musl(const struct sc_file_facts *file)
{
    return has_word(file->elf.loader, "ld-musl") || has_word(file->elf_loader, "ld-musl") ||
           has_word(file->elf_loader, "gcompat");
}

/* Is it glibc's loader, under one of its names? */
static bool is_glibc(const char *loader)
{
    const char *slash = loader ? strrchr(loader, '/') : NULL;
    return slash && (strncmp(slash + 1, "ld-linux", 8) == 0 ||
                     strncmp(slash + 1, "ld-2.", 5) == 0 || strcmp(slash + 1, "ld64.so.2") == 0);
}

/* Is the program of this command's own architecture, for which there is a library? */
static bool is_ours_to_run(const struct sc_elf_facts *elf)
{
    return elf->is_64_bit && elf->machine == sc_architecture_own();
}

/* Adds findings that say that the program is for another machine. */
static void say_machine(struct sc_diagnosis *diagnosis, const struct sc_elf_facts *elf)
{
    const char *program = sc_architecture_name(diagnosis->scratch, elf->machine, elf->is_64_bit);
    const char *own = sc_architecture_name(diagnosis->scratch, sc_architecture_own(), true);
    PROBLEM("other-architecture",
            "Take the tarball or the wheel of libsafecopy for the program's architecture: there "
            "are x86-64 and aarch64",
            "it is for %s, and this libsafecopy for %s: no loader mixes them", program, own);
}

/* Does the file give rights to who runs it (setuid, capabilities)? Then the loader ignores
 * LD_PRELOAD. */
static bool has_rights(const struct sc_file_facts *file)
{
    return file->changes_user || file->changes_group || file->has_capabilities;
}

/* Adds findings that say that the loader ignores a preload, as the file gives its process more
 * rights than the user has. */
static void say_rights(struct sc_diagnosis *diagnosis, const struct sc_file_facts *file)
{
    static const char remedy[] =
        "Run a copy (cp, which leaves that out) as a user who may do what it does";
    if (file->changes_user)
        PROBLEM("setuid", remedy, "it is setuid: the loader ignores LD_PRELOAD for it");
    else if (file->changes_group)
        PROBLEM("setgid", remedy, "it is setgid: the loader ignores LD_PRELOAD for it");
    else if (file->has_capabilities)
        PROBLEM("capabilities", remedy,
                "its file has capabilities: the loader ignores LD_PRELOAD for it");
}

/* Is it a shared library and no program? Only the missing loader and flag tell it from a
 * position-independent program. */
static bool is_library(const struct sc_elf_facts *elf)
{
    return elf->is_position_independent && !elf->has_loader && !elf->calls_itself_pie;
}

/* May calls of the program come through the library? */
static bool is_reached(const struct sc_file_facts *file)
{
    const struct sc_elf_facts *elf = &file->elf;
    return elf->is_program && elf->has_code && (elf->has_loader || is_library(elf)) &&
           !is_musl(file);
}

/* Adds findings that say whether a loader runs that heeds a preload. */
static void say_loader(struct sc_diagnosis *diagnosis, const struct sc_file_facts *file)
{
    const struct sc_elf_facts *elf = &file->elf;
    if (!elf->is_program)
        PROBLEM("not-a-program", "Link it", "it is no program, but what a linker makes one of");
    else if (!elf->has_code)
        PROBLEM("damaged", "Build or copy it again", "it has nothing to be loaded: it is cut off");
    else if (is_library(elf) && elf->has_entry)
        NOTE("is-loader", "it has no loader of its own: it is one, or a library");
    else if (is_library(elf))
        NOTE("is-library", "it is a shared library, which is not tried: a preload is for the "
                           "program that loads it");
    else if (!elf->has_loader)
        PROBLEM("static", "Link it without -static: CUDA itself wants a dynamic program",
                "it is statically linked: no loader runs, so LD_PRELOAD has no effect");
    else if (is_musl(file))
        PROBLEM("musl", "Run it in a system with glibc, as CUDA itself wants",
                "it is linked with musl (%s), which libsafecopy does not support", elf->loader);
    else if (!elf->loader || !file->is_elf_loader_here)
        PROBLEM("loader-not-found", "Run it in the system that it was built for",
                "its loader %s is not there", elf->loader ? elf->loader : "");
    else if (!is_glibc(elf->loader))
        NOTE("other-loader", "its loader %s is not known to be glibc's", elf->loader);
    else if (!has_rights(file))
        OK("reached-by-preload", "dynamically linked (%s): a preload reaches it", elf->loader);
}

/* ---- what it calls ---- */

/* Says how the program comes to call CUDA, as far as its file shows. */
static void say_cuda(struct sc_diagnosis *diagnosis, const struct sc_elf_facts *elf)
{
    if (elf->cudart)
        OK("cudart-linked", "it is linked with %s, which calls the driver through the library",
           elf->cudart);
    else if (elf->driver)
        OK("driver-linked", "it is linked with the driver (%s)", elf->driver);
    else if (elf->has_cudart_inside)
        OK("cudart-inside", "a CUDA runtime is linked into it: it calls the driver through the "
                            "library all the same");
    else if (elf->names_driver)
        OK("driver-opened", "it opens the driver itself, as a CUDA runtime that is linked into it "
                            "does: its calls go through the library all the same");
    else if (elf->has_device_code)
        NOTE("device-code-only", "it has code for GPUs, and how it calls CUDA is not to be seen");
    else
        NOTE("cuda-elsewhere", "it does not name CUDA: libraries that it loads may");
}

/* Adds findings that say what in the file may lead calls past the library. */
static void say_bypasses(struct sc_diagnosis *diagnosis, const struct sc_elf_facts *elf)
{
    if (elf->defines_free)
        NOTE("own-allocator", "it has a free of its own, which a preload does not replace: frees "
                              "of memory in flight (SC101, SC102) are not seen");
    if (elf->is_symbolic)
        NOTE("symbolic", "linked with -Bsymbolic: calls of what it defines itself pass the "
                         "library by");
    if (elf->asks_to_interpose)
        NOTE("interpose", "linked with -z interpose, which glibc ignores: the preload comes first");
    if (elf->opens_namespaces)
        NOTE("dlmopen", "it calls dlmopen: a libcuda in another namespace passes the library by");
}

/* ---- all of it ---- */

/* Judges an ELF program: whether it can be preloaded, uses CUDA, and goes past the library. What
 * cannot be reached is not looked at further. */
static void say_elf(struct sc_diagnosis *diagnosis, const struct sc_file_facts *file)
{
    if (!is_ours_to_run(&file->elf)) {
        say_machine(diagnosis, &file->elf);
        return;
    }
    say_rights(diagnosis, file);
    say_loader(diagnosis, file);
    if (!is_reached(file))
        return;
    say_cuda(diagnosis, &file->elf);
    say_bypasses(diagnosis, &file->elf);
}

/* Judges the last file of the chain: an ELF program, or what is no program. */
static void say_file(struct sc_diagnosis *diagnosis, const struct sc_file_facts *file)
{
    if (file->kind == SC_FILE_ELF)
        say_elf(diagnosis, file);
    else if (file->kind == SC_FILE_OTHER)
        PROBLEM("unknown-format",
                "Begin a script with #! and its interpreter; build a program for "
                "Linux",
                "%s is neither an ELF program nor a script with a #! line", file->path);
    else if (file->kind == SC_FILE_SCRIPT)
        PROBLEM("interpreter-not-known", "Name one interpreter in the first line of the script",
                "the interpreters of %s lead to no program", file->path);
    else
        NOTE("program-not-read", "%s may be run and not read: what it is is not known", file->path);
}

/* Adds findings that say whether a preload would reach the program, by its file and, of a script,
 * by its interpreters'. */
void sc_diagnosis_of_program(struct sc_diagnosis *diagnosis, const struct sc_program_facts *facts)
{
    const struct sc_file_facts *last = last_of(facts);
    for (size_t i = 0; i < facts->count; i++) {
        const struct sc_file_facts *file = &facts->files[i];
        if (!is_there(file)) {
            say_absent(diagnosis, file, i > 0);
            return;
        }
        if (file->kind == SC_FILE_SCRIPT && file != last)
            OK("script", "%s is a script: it runs in %s, and the preload with it", file->path,
               facts->files[i + 1].path);
        else if (file->kind == SC_FILE_ELF)
            OK("elf", "%s is an ELF file for %s", file->path,
               sc_architecture_name(diagnosis->scratch, file->elf.machine, file->elf.is_64_bit));
    }
    say_file(diagnosis, last);
}

/* Can the program be started, to be tried? A shell runs what the Linux kernel refuses to: that
 * would be tried instead. A file that is not read may be tried. */
bool sc_diagnosis_is_startable(const struct sc_program_facts *facts)
{
    const struct sc_file_facts *last = last_of(facts);
    const struct sc_elf_facts *elf = &last->elf;
    for (size_t i = 0; i < facts->count; i++)
        if (!is_there(&facts->files[i]))
            return false;
    if (last->kind == SC_FILE_NONE)
        return true;
    return last->kind == SC_FILE_ELF && is_ours_to_run(elf) && elf->is_program && elf->has_code &&
           (!elf->has_loader || last->is_elf_loader_here) && (!is_library(elf) || elf->has_entry);
}
