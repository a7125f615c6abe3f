/* Any bytes as the file of a module whose addresses are to be named, or as the answer of a process
 * that names them.
 *
 * Bytes that begin with 'm' are no file but changes of a small module with debug information: three
 * bytes are a place, two of them, and what stands there then. What reads the file stays in bounds
 * and ends, no name is longer than it may be, and what is said of it is nothing that a terminal
 * would obey.
 */
#include "report/command/say.h"
#include "report/command/symbolizer/module_reader.h"
#include "report/command/symbolizer/symbol_answer.h"
#include "tests/fuzz/changed_file.h"
#include "tests/fuzz/terminal.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a module ---- */

enum { SECTIONS = 10, SYMBOLS = 3, BASE = 0x10000, OFFSET = 0x1235, NAME_BYTES = 128 };

/* A unit "a.c" in "/src" with a function "inner" that is inlined at all of its addresses. */
static const uint8_t abbreviations[] = {
    1,    0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, /* unit */
    2,    0x1d, 0, 0x11, 0x01, 0x12, 0x06, 0x03, 0x0e, 0x58, 0x0b, 0x59, 0x0b,       /* inlined */
    0x31, 0x13, 0, 0,    0};
static const uint8_t info[] = {
    0x39, 0,   0,   0,   4, 0,   0,   0,   0,   0, 8, /* the header */
    1,    'a', '.', 'c', 0, '/', 's', 'r', 'c', 0,    /* the unit: its name, folder, */
    0,    0,   0,   0,   0, 0,   1,   0,   0,   0, 0, 0,    0, 0, 0x10, 0, /* lines, addresses */
    2,    0,   0,   1,   0, 0,   0,   0,   0,   0, 0, 0x10, 0, /* what is inlined: its addresses, */
    1,    0,   0,   0,   1, 7,   11,  0,   0,   0,             /* name, call, origin */
    0};
static const uint8_t lines[] = {
    0x34, 0,    0,    0,    4, 0, 0x1b, 0, 0, 0, 1,   1,   1,   0xfb, 14, 13, 0, 1, 1,
    1,    1,    0,    0,    0, 1, 0,    0, 1, 0, 'a', '.', 'c', 0,    0,  0,  0, 0, /* the header,
                                                                                       with one file
                                                                                     */
    0,    9,    2,    0,    0, 1, 0,    0, 0, 0, 0,   1, /* the first address, and its row */
    2,    0x80, 0x80, 0x40, 0, 1, 1};                    /* the last one */
static const uint8_t strings[] = "\0inner";
static const uint8_t link_to_debug[] = "module.debug\0\0\0\1\2\3\4";

struct module {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Nhdr note;
    char owner[4], build_id[20];
    Elf64_Sym symbols[SYMBOLS];
    Elf64_Shdr sections[SECTIONS];
    char names[NAME_BYTES];
    uint8_t abbreviations[sizeof abbreviations], info[sizeof info], lines[sizeof lines],
        strings[sizeof strings], link[sizeof link_to_debug];
};

static struct module module;

#define AT(member) (offsetof(struct module, member))

/* Returns where the name is among the names. */
static uint32_t add_name(const char *name)
{
    static uint32_t end = 1;
    uint32_t at = end;
    strcpy(module.names + at, name);
    end += (uint32_t)strlen(name) + 1;
    if (end > NAME_BYTES)
        abort();
    return at;
}

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t offset, uint64_t size)
{
    return (Elf64_Shdr){.sh_name = add_name(name),
                        .sh_type = type,
                        .sh_offset = offset,
                        .sh_size = size,
                        .sh_link = 1,
                        .sh_addralign = 1};
}

static void make_sections(void)
{
    Elf64_Shdr *sections = module.sections;
    sections[1] = section(".strtab", SHT_STRTAB, AT(names), sizeof module.names);
    sections[2] = section(".symtab", SHT_SYMTAB, AT(symbols), sizeof module.symbols);
    sections[2].sh_entsize = sizeof module.symbols[0];
    sections[3] =
        section(".debug_abbrev", SHT_PROGBITS, AT(abbreviations), sizeof module.abbreviations);
    sections[4] = section(".debug_info", SHT_PROGBITS, AT(info), sizeof module.info);
    sections[5] = section(".debug_line", SHT_PROGBITS, AT(lines), sizeof module.lines);
    sections[6] = section(".debug_str", SHT_PROGBITS, AT(strings), sizeof module.strings);
    sections[7] = section(".gnu_debuglink", SHT_PROGBITS, AT(link), sizeof module.link);
    sections[8] = section(".dynsym", SHT_DYNSYM, AT(symbols), sizeof module.symbols);
    sections[8].sh_entsize = sizeof module.symbols[0];
    memcpy(module.abbreviations, abbreviations, sizeof abbreviations);
    memcpy(module.info, info, sizeof info);
    memcpy(module.lines, lines, sizeof lines);
    memcpy(module.strings, strings, sizeof strings);
    memcpy(module.link, link_to_debug, sizeof link_to_debug);
}

static void make_segments(void)
{
    module.segments[0] =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = 4096, .p_memsz = 0x100000};
    module.segments[1] = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_offset = AT(note), .p_filesz = AT(symbols) - AT(note), .p_align = 4};
    module.note = (Elf64_Nhdr){4, sizeof module.build_id, NT_GNU_BUILD_ID};
    memcpy(module.owner, "GNU", 4);
    memset(module.build_id, 0xab, sizeof module.build_id);
}

static void make_module(void)
{
    module.header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = AT(segments),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shoff = AT(sections),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 1,
    };
    for (int i = 1; i < SYMBOLS; i++)
        module.symbols[i] = (Elf64_Sym){.st_name = add_name(i == 1 ? "outer@@V1" : "other"),
                                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                        .st_shndx = 1,
                                        .st_value = (uint64_t)BASE * (unsigned)i,
                                        .st_size = 0x2000};
    make_segments();
    make_sections();
}

static const struct image image = {'m', &module, sizeof module};

/* ---- what is read ---- */

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_word(const char *word, size_t size_max)
{
    require(!word || strlen(word) < size_max);
}

/* What has gone through an answer is what went in, but for what is too long. */
static void check_answer(const struct sc_symbol_answer *answer)
{
    static char bytes[SC_SYMBOL_ANSWER_MAX];
    struct sc_symbol_answer taken;
    require(answer->place_count <= SC_SOURCE_PLACES_MAX);
    size_t size = sc_symbol_answer_put(bytes, answer);
    require(size <= sizeof bytes && sc_symbol_answer_take(bytes, size, &taken));
    require(taken.place_count == answer->place_count && !taken.name == !answer->name);
    require_word(taken.name, SC_SYMBOL_NAME_MAX);
    for (size_t i = 0; i < taken.place_count; i++) {
        require_word(taken.places[i].function, SC_SYMBOL_NAME_MAX);
        require_word(taken.places[i].file, SC_SYMBOL_PATH_MAX);
        require_word(taken.places[i].folder, SC_SYMBOL_PATH_MAX);
    }
}

static struct sc_symbol_answer ask(struct sc_module_reader *reader, uint64_t offset)
{
    struct sc_symbol_answer answer = {.name = sc_module_reader_name(reader, offset)};
    answer.place_count = sc_module_reader_places(reader, offset, answer.places);
    return answer;
}

static void read_module(const uint8_t *data, size_t size)
{
    static const uint64_t offsets[] = {1, OFFSET, BASE + 1, UINT64_MAX};
    int fd = make_file(&image, data, size);
    const struct sc_module_sought sought = {path_of_file(), NULL, "/nowhere"};
    struct sc_module_reader *reader = sc_module_reader_open(&sought);
    for (size_t i = 0; reader && i < sizeof offsets / sizeof offsets[0]; i++) {
        struct sc_symbol_answer answer = ask(reader, offsets[i]);
        check_answer(&answer);
    }
    if (reader)
        sc_module_reader_close(reader);
    close(fd);
    unlink(path_of_file());
}

static void read_answer(const uint8_t *data, size_t size)
{
    struct sc_symbol_answer answer;
    if (sc_symbol_answer_take((const char *)data, size, &answer))
        check_answer(&answer);
    else
        require(!answer.name && answer.place_count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (module.header.e_phnum == 0)
        make_module();
    terminal_listen();
    read_module(data, size);
    read_answer(data, size);
    terminal_judge();
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

/* That the module is read at all, or nothing of this would be tried. */
static void check_module(void)
{
    int fd = make_file(&image, (const uint8_t *)"m", 1);
    const struct sc_module_sought sought = {path_of_file(),
                                            "abababababababababababababababababababab", "/nowhere"};
    struct sc_module_reader *reader = sc_module_reader_open(&sought);
    require(reader);
    struct sc_symbol_answer answer = ask(reader, OFFSET);
    require(answer.name && strcmp(answer.name, "outer") == 0);
    if (sc_source_lines_are_known()) {
        require(answer.place_count == 2 && answer.places[0].line == 1);
        require(strcmp(answer.places[0].function, "inner") == 0);
        require(strcmp(answer.places[0].file, "/src/a.c") == 0 && answer.places[1].line == 7);
    }
    sc_module_reader_close(reader);
    close(fd);
    unlink(path_of_file());
}

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "m",
        "m\x01\x01\x01",
        "m\x01\x11\xff\x02\x22\x7f\x03\x33\x80\x04\x44\xff\x01\x55\x01\x02\x66\xfe",
        "m\x01\x10\xff\x01\x30\xff\x01\x38\xff\x01\x40\xff\x01\x48\xff\x01\x50\xff\x01\x58\xff",
        "m\x04\x71\x11\x04\x82\x2e\x04\x93\x31\x04\xa4\x13\x04\xb5\x55\x04\xc6\x17\x04\xd7\x08",
        "\x7f"
        "ELF\x02\x01\x01",
        "wouter",
        "nabcdwinner",
        "!<arch>\n",
    };
    make_module();
    check_module();
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
