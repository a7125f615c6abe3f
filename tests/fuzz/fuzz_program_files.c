/* Any bytes as the file of a program for `safecopy doctor`, or as the report of one that was tried.
 *
 * Bytes that begin with 'p' are no file but changes of a small program: three bytes are a place,
 * two of them, and what stands there then. What reads the file stays in bounds and ends, and what
 * is said of it is nothing that a terminal would obey.
 */
#include "report/command/doctor/came_up.h"
#include "report/command/doctor/diagnosis.h"
#include "report/command/doctor/program_file.h"
#include "report/command/doctor/show.h"
#include "tests/fuzz/changed_file.h"
#include "tests/fuzz/terminal.h"

#include <elf.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a program with all that is looked at ---- */

enum { NAME_BYTES = 128, LOADER_BYTES = 32, SEGMENTS = 3, ENTRIES = 8, SYMBOLS = 6, SECTIONS = 6 };

struct program {
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS];
    Elf64_Dyn entries[ENTRIES];
    Elf64_Sym symbols[SYMBOLS];
    Elf64_Shdr sections[SECTIONS];
    char loader[LOADER_BYTES];
    char names[NAME_BYTES];
};

static struct program program;

#define AT(member) (offsetof(struct program, member))

/* Returns where the name is among the names. */
static uint32_t add_name(const char *name)
{
    static uint32_t end = 1;
    uint32_t at = end;
    strcpy(program.names + at, name);
    end += (uint32_t)strlen(name) + 1;
    if (end > NAME_BYTES)
        abort();
    return at;
}

static Elf64_Phdr segment(uint32_t type, uint64_t offset, uint64_t size)
{
    return (Elf64_Phdr){.p_type = type, .p_offset = offset, .p_vaddr = offset, .p_filesz = size};
}

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t offset, uint64_t size)
{
    return (Elf64_Shdr){.sh_name = add_name(name),
                        .sh_type = type,
                        .sh_offset = offset,
                        .sh_size = size,
                        .sh_link = 1};
}

static void make_segments(void)
{
    strcpy(program.loader, "/lib64/ld-linux-x86-64.so.2");
    program.segments[0] = segment(PT_LOAD, 0, sizeof program);
    program.segments[1] = segment(PT_INTERP, AT(loader), sizeof program.loader);
    program.segments[2] = segment(PT_DYNAMIC, AT(entries), sizeof program.entries);
    program.entries[0] = (Elf64_Dyn){DT_STRTAB, {AT(names)}};
    program.entries[1] = (Elf64_Dyn){DT_NEEDED, {add_name("libcudart.so.13")}};
    program.entries[2] = (Elf64_Dyn){DT_NEEDED, {add_name("libcuda.so.1")}};
    program.entries[3] = (Elf64_Dyn){DT_FLAGS, {DF_SYMBOLIC}};
    program.entries[4] = (Elf64_Dyn){DT_FLAGS_1, {DF_1_PIE}};
}

static void make_sections(void)
{
    const char *const symbols[] = {"dlmopen", "free"};
    for (int i = 0; i < 2; i++)
        program.symbols[i + 1] = (Elf64_Sym){.st_name = add_name(symbols[i]),
                                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                             .st_shndx = (uint16_t)(i > 0)};
    program.sections[1] = section("", SHT_STRTAB, AT(names), sizeof program.names);
    program.sections[2] = section("", SHT_DYNSYM, AT(symbols), sizeof program.symbols);
    program.sections[2].sh_entsize = sizeof program.symbols[0];
    program.sections[3] = section(".rodata", SHT_PROGBITS, AT(names), sizeof program.names);
    program.sections[4] = section(".nv_fatbin", SHT_PROGBITS, 0, 64);
}

static void make_program(void)
{
    program.header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = AT(segments),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS,
        .e_shoff = AT(sections),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 1,
    };
    make_segments();
    make_sections();
}

static const struct image image = {'p', &program, sizeof program};

/* ---- what is said ---- */

struct said {
    struct sc_diagnosis diagnosis;
    struct sc_program_facts program;
    struct sc_trial_facts trial;
};

static void show(const struct said *said, bool as_json)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        abort();
    if (as_json)
        sc_show_json(out, &said->diagnosis, &said->program, &said->trial);
    else
        sc_show_text(out, &said->diagnosis);
    fclose(out);
    terminal_take(text, length, "\n");
    free(text);
}

static void read_report(struct sc_trial_facts *trial, struct sc_scratch *scratch, const char *path)
{
    struct sc_came_up_facts report;
    sc_came_up_read(&report, scratch, path);
    trial->unreached_count = trial->report_count = report.has_run;
    trial->unreached = report.program;
    trial->hazard_count = report.hazard_count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_scratch scratch = {0};
    struct said said = {.diagnosis = {.scratch = &scratch}};
    if (program.header.e_phnum == 0)
        make_program();
    int fd = make_file(&image, data, size);
    sc_program_file_look(&said.program, &scratch, path_of_file());
    sc_diagnosis_of_program(&said.diagnosis, &said.program);
    read_report(&said.trial, &scratch, path_of_file());
    sc_diagnosis_of_trial(&said.diagnosis, &said.trial);
    show(&said, false);
    show(&said, true);
    close(fd);
    unlink(path_of_file());
    sc_scratch_free(&scratch);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

/* That the program is read at all, or nothing of this would be tried. */
static void check_program(void)
{
    struct sc_scratch scratch = {0};
    struct sc_elf_facts facts;
    int fd = make_file(&image, (const uint8_t *)"p", 1);
    sc_elf_facts_read(&facts, &scratch, fd);
    if (!facts.is_elf || !facts.is_program || !facts.loader || !facts.cudart || !facts.driver ||
        !facts.is_symbolic || !facts.calls_itself_pie || !facts.opens_namespaces ||
        !facts.defines_free || !facts.names_driver || !facts.has_device_code)
        abort();
    close(fd);
    unlink(path_of_file());
    sc_scratch_free(&scratch);
}

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "p",
        "p\x01\x01\x01",
        "p\x01\x11\xff\x02\x22\x7f\x03\x33\x80\x04\x44\xff\x01\x55\x01\x02\x66\xfe",
        "p\x01\x10\xff\x01\x30\xff\x01\x38\xff\x01\x40\xff\x01\x48\xff\x01\x50\xff\x01\x58\xff",
        "#!/bin/sh -e\n",
        "#!/usr/bin/env -S A=1 python3 -u\n",
        "#! \t\x1b[2J/x y\n",
        "\x7f"
        "ELF\x02\x01\x01",
        "!<arch>\n",
        "{\"type\":\"run\",\"schema\":1,\"version\":\"\\u001b\",\"command\":[\"\\u009b\"],"
        "\"unreached\":true}\n{\"type\":\"summary\",\"hazards\":3,\"cupti\":{\"state\":\"held\"}}"
        "\n",
    };
    make_program();
    check_program();
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
