/* links: interpose/guard/atomic_stores.c
 *
 * Which stores a program talks by: told by the instruction's bytes.
 */
#include "interpose/guard/atomic_stores.h"

#include <check.h>
#include <stdlib.h>

#include "tests/emulator.h"

static bool is_one(const void *code)
{
    return sc_atomic_stores_is_one((uintptr_t)code);
}

#if defined(__x86_64__)

START_TEST(exchanges_and_locked_instructions_are)
{
    ck_assert(is_one("\x87\x07"));                 /* xchg [rdi], eax */
    ck_assert(is_one("\x48\x87\x07"));             /* xchg [rdi], rax */
    ck_assert(is_one("\x86\x07"));                 /* xchg [rdi], al */
    ck_assert(is_one("\x66\x87\x07"));             /* xchg [rdi], ax */
    ck_assert(is_one("\xF0\x83\x07\x01"));         /* lock add [rdi], 1 */
    ck_assert(is_one("\xF0\x48\x0F\xB1\x0F"));     /* lock cmpxchg [rdi], rcx */
    ck_assert(is_one("\x66\xF0\x0F\xC1\x07"));     /* lock xadd [rdi], ax */
    ck_assert(is_one("\x64\xF0\x0F\xC1\x04\x25")); /* the same in a segment */
}
END_TEST

START_TEST(plain_stores_are_not)
{
    ck_assert(!is_one("\x89\x07"));                     /* mov [rdi], eax */
    ck_assert(!is_one("\x48\xC7\x07\x86\x00\x00\x00")); /* mov qword [rdi], 0x86 */
    ck_assert(!is_one("\x83\x07\x01"));                 /* add [rdi], 1 */
    ck_assert(!is_one("\xF3\xAA"));                     /* rep stosb */
    ck_assert(!is_one("\xC5\xFE\x7F\x07"));             /* vmovdqu [rdi], ymm0 */
    ck_assert(!is_one("\x66\x0F\x7F\x07"));             /* movdqa [rdi], xmm0 */
}
END_TEST

#else

static bool is_code(uint32_t code)
{
    return is_one(&code);
}

START_TEST(exchanges_and_locked_instructions_are)
{
    ck_assert(is_code(0x889FFC20)); /* stlr w0, [x1] */
    ck_assert(is_code(0x88027C20)); /* stxr w2, w0, [x1] */
    ck_assert(is_code(0xB8208020)); /* swp w0, w0, [x1] */
    ck_assert(is_code(0xB8E00020)); /* ldaddal w0, w0, [x1] */
    ck_assert(is_code(0x88E0FC22)); /* casal w0, w2, [x1] */
}
END_TEST

START_TEST(plain_stores_are_not)
{
    ck_assert(!is_code(0xB9000020)); /* str w0, [x1] */
    ck_assert(!is_code(0xB8206820)); /* str w0, [x1, x0] */
    ck_assert(!is_code(0xB8004420)); /* str w0, [x1], 4 */
    ck_assert(!is_code(0xA9000420)); /* stp x0, x1, [x1] */
    ck_assert(!is_code(0x3D800020)); /* str q0, [x1] */
    ck_assert(!is_code(0xD50B7420)); /* dc zva, x0 */
}
END_TEST

#endif

START_TEST(what_cannot_be_read_is_not)
{
    ck_assert(!sc_atomic_stores_is_one(0x1000));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("atomic_stores");
    TCase *group = tcase_create("atomic_stores");
    if (kernel_peeks())
        tcase_add_test(group, exchanges_and_locked_instructions_are);
    tcase_add_test(group, plain_stores_are_not);
    tcase_add_test(group, what_cannot_be_read_is_not);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
