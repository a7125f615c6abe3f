/* Images of modules: what they call and do not have, also where an image is cut off or damaged. */
#include "ledger/cubin.h"

#include <check.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_GRAPH = SHT_LOPROC + 1, ROOM = 32 };

static const char names[] = "\0malloc\0take\0also_takes\0free";
enum { MALLOC = 1, TAKE = 8, ALSO = 13, FREE = 24 }; /* in names */

static struct image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    Elf64_Sym symbols[5];
    uint32_t calls[3][2];
    char names[sizeof names];
} image;

static char caller[ROOM];

static Elf64_Sym symbol(uint32_t name, bool is_defined)
{
    return (Elf64_Sym){.st_name = name, .st_shndx = is_defined ? 3 : SHN_UNDEF};
}

static Elf64_Shdr section(uint32_t type, size_t offset, size_t size)
{
    return (Elf64_Shdr){.sh_type = type, .sh_offset = offset, .sh_size = size};
}

static void set_up(void)
{
    image = (struct image){
        .header = {.e_shoff = offsetof(struct image, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 4},
        .sections = {{0},
                     section(SHT_STRTAB, offsetof(struct image, names), sizeof names),
                     section(SHT_SYMTAB, offsetof(struct image, symbols), sizeof image.symbols),
                     section(CALL_GRAPH, offsetof(struct image, calls), sizeof image.calls)},
        .symbols = {{0},
                    symbol(TAKE, true),
                    symbol(MALLOC, false),
                    symbol(ALSO, true),
                    symbol(FREE, false)},
        .calls = {{0, UINT32_MAX}, {3, 2}, {1, 2}},
    };
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.sections[2].sh_link = 1;
    memcpy(image.names, names, sizeof names);
}

/* Of a copy that has so many bytes and no more. */
static bool imports(const char *function, size_t size)
{
    void *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, &image, size);
    memset(caller, '?', sizeof caller);
    bool found = sc_cubin_imports(copy, size, function, caller, sizeof caller);
    free(copy);
    ck_assert_ptr_nonnull(memchr(caller, '\0', sizeof caller));
    return found;
}

START_TEST(a_function_that_is_not_there_is_imported_and_its_first_caller_named)
{
    ck_assert(imports("malloc", sizeof image));
    ck_assert_str_eq(caller, "also_takes");
    ck_assert(imports("free", sizeof image)); /* nobody calls it */
    ck_assert_str_eq(caller, "");
    ck_assert(!imports("take", sizeof image)); /* it is there */
    ck_assert(!imports("mallo", sizeof image));
    ck_assert(!imports("malloc_", sizeof image));
}
END_TEST

START_TEST(a_long_name_is_cut)
{
    char little[5];
    ck_assert(sc_cubin_imports(&image, sizeof image, "malloc", little, sizeof little));
    ck_assert_str_eq(little, "also");
}
END_TEST

START_TEST(without_a_table_of_calls_it_is_imported_by_somebody)
{
    image.sections[3].sh_type = SHT_NOBITS;
    ck_assert(imports("malloc", sizeof image));
    ck_assert_str_eq(caller, "");
}
END_TEST

START_TEST(what_is_no_image_imports_nothing)
{
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    ck_assert(!imports("malloc", sizeof image));
    set_up();
    image.header.e_ident[0] = '.';
    ck_assert(!imports("malloc", sizeof image));
    set_up();
    image.header.e_shentsize = 1;
    ck_assert(!imports("malloc", sizeof image));
    ck_assert(!sc_cubin_imports(NULL, 0, "malloc", caller, sizeof caller));
}
END_TEST

/* Under a sanitizer, or memcheck, a byte beyond it would be seen. */
START_TEST(nothing_is_read_behind_an_image_that_is_cut_off)
{
    size_t whole = offsetof(struct image, names) + sizeof "\0malloc" - 1;
    for (size_t size = 0; size < sizeof image; size++)
        if (imports("malloc", size))
            ck_assert_uint_gt(size, whole);
}
END_TEST

START_TEST(damaged_offsets_lead_nowhere)
{
    static const uint64_t bad[] = {UINT64_MAX, UINT64_MAX - 63, INT64_MAX, sizeof image,
                                   sizeof image - 1};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        set_up();
        image.header.e_shoff = bad[i];
        ck_assert(!imports("malloc", sizeof image));
        for (unsigned at = 1; at <= 3; at++) {
            set_up();
            image.sections[at].sh_offset = bad[i];
            imports("malloc", sizeof image);
            set_up();
            image.sections[at].sh_size = bad[i];
            imports("malloc", sizeof image);
        }
        set_up();
        image.symbols[2].st_name = (uint32_t)bad[i];
        ck_assert(!imports("malloc", sizeof image));
        set_up();
        image.calls[1][0] = (uint32_t)bad[i];
        imports("malloc", sizeof image);
    }
    set_up();
    image.sections[2].sh_link = 1000;
    ck_assert(!imports("malloc", sizeof image));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cubin");
    TCase *tests = tcase_create("cubin");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_function_that_is_not_there_is_imported_and_its_first_caller_named);
    tcase_add_test(tests, a_long_name_is_cut);
    tcase_add_test(tests, without_a_table_of_calls_it_is_imported_by_somebody);
    tcase_add_test(tests, what_is_no_image_imports_nothing);
    tcase_add_test(tests, nothing_is_read_behind_an_image_that_is_cut_off);
    tcase_add_test(tests, damaged_offsets_lead_nowhere);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
