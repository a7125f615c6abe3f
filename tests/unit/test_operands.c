/* links: interpose/base/operands.c interpose/base/instructions.c interpose/base/x86.c
 * not-under: memcheck (which takes an instruction apart, and faults at another byte)
 *
 * How far instructions reach: on x86-64 the processor itself says, by faults at the end of a page.
 */
#include "interpose/base/operands.h"

#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

#if defined(__x86_64__)

/* Each in three ways of addressing, and as a name. */
#define EMIT(before, behind)                                                                       \
    ".pushsection written_instructions, \"aw\"\n"                                                  \
    ".quad 1f, 2f, 3f, 4f\n"                                                                       \
    ".popsection\n"                                                                                \
    "1: " before "(%rax)" behind "\n ret\n"                                                        \
    "2: " before "0x40(%r8)" behind "\n ret\n"                                                     \
    "3: " before "-0x1000(%r11,%rbx,4)" behind "\n ret\n"                                          \
    "4: .asciz \"" before behind "\"\n"

__asm__(".text\n"
#include "written_instructions.def"
        ".skip 64, 0x90\n");

enum { WAYS = 3, WIDTH_MAX = 512 };

struct written {
    const void *ways[WAYS];
    const char *name;
};

extern const struct written __start_written_instructions[], __stop_written_instructions[];

static unsigned char *end; /* of a page, with a closed one behind it */
static sigjmp_buf left;
static volatile size_t reach;
static volatile int caught;

static void on_fault(int number, siginfo_t *info, void *argument)
{
    const ucontext_t *context = argument;
    caught = number;
    if (number == SIGSEGV && info->si_addr == end)
        reach = sc_operands_reach((const unsigned char *)context->uc_mcontext.gregs[REG_RIP],
                                  SC_OPERANDS_CODE_BYTES, context, (uintptr_t)end,
                                  context->uc_mcontext.gregs[REG_ERR] & 2);
    siglongjmp(left, 1);
}

/* The signal, or 0. */
static int run(const void *code, unsigned char *operand)
{
    caught = 0;
    reach = 0;
    if (sigsetjmp(left, 1))
        return caught;
    register uintptr_t r8 __asm__("r8") = (uintptr_t)operand - 0x40;
    register uintptr_t r11 __asm__("r11") = (uintptr_t)operand + 0x1000 - 12;
    __asm__ volatile("call *%[code]"
                     : "+r"(r8), "+r"(r11)
                     : [code] "r"(code), "a"(operand), "b"((uintptr_t)3)
                     : "rcx", "rdx", "r9", "r10", "cc", "memory");
    return 0;
}

static void set_up(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    unsigned char *pages =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    end = pages + PAGE;
    ck_assert_int_eq(mprotect(end, PAGE, PROT_NONE), 0);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* 0: this processor does not know it. */
static size_t width_of(const void *code)
{
    for (size_t width = 1; width <= WIDTH_MAX; width++) {
        int signal = run(code, end - width);
        if (signal == SIGILL)
            return 0;
        if (signal == 0)
            return width;
    }
    ck_abort_msg("it reaches for ever");
    return 0;
}

static void check_way(const struct written *written, const void *code)
{
    size_t width = width_of(code);
    for (size_t before = 1; before < width; before++) {
        ck_assert_int_eq(run(code, end - before), SIGSEGV);
        ck_assert_msg(reach == width - before, "%s: %zu of %zu bytes", written->name, reach,
                      width - before);
    }
    if (width && run(code, end) == SIGSEGV)
        ck_assert_msg(reach == width, "%s: %zu of %zu bytes", written->name, reach, width);
}

START_TEST(instructions_reach_as_far_as_they_fault)
{
    for (const struct written *written = __start_written_instructions;
         written < __stop_written_instructions; written++)
        for (unsigned way = 0; way < WAYS; way++)
            check_way(written, written->ways[way]);
}
END_TEST

/* ---- those that are no table's ---- */

__asm__(".text\n"
        "searches: vmovdqu (%rax), %ymm1\n vpcmpeqb %ymm1, %ymm2, %ymm3\n ret\n"
        "compares: movdqu (%rax), %xmm1\n nop\n pcmpeqb %xmm1, %xmm2\n ret\n"
        "masked: vmovdqu8 (%rax), %zmm1{%k1}\n ret\n"
        "in_segment: movl %fs:(%rax), %ecx\n ret\n"
        "copies: movl $100, %ecx\n mov %rax, %rsi\n mov %rbx, %rdi\n mov %rsp, %rdi\n"
        "        sub $4096, %rdi\n rep movsb\n ret\n"
        "fills: movl $25, %ecx\n mov %rax, %rdi\n rep stosl\n ret\n"
        "fills_down: std\n movl $25, %ecx\n mov %rax, %rdi\n rep stosl\n cld\n ret\n"
        ".skip 64, 0x90\n");
extern const char searches[], compares[], masked[], in_segment[], copies[], fills[], fills_down[];

START_TEST(searches_are_not_known)
{
    ck_assert_int_eq(run(compares, end), SIGSEGV);
    ck_assert_uint_eq(reach, 0);
    if (run(searches, end) == SIGSEGV)
        ck_assert_uint_eq(reach, 0);
}
END_TEST

START_TEST(masks_and_segments_are_not_known)
{
    const unsigned char load[] = {0x64, 0x8B, 0x08, 0xC3};
    ucontext_t context;
    memset(&context, 0, sizeof context);
    ck_assert_uint_eq(sc_operands_reach(load, sizeof load, &context, 0, false), 0);
    if (run(masked, end) == SIGSEGV)
        ck_assert_uint_eq(reach, 0);
}
END_TEST

START_TEST(string_instructions_reach_to_their_end)
{
    ck_assert_int_eq(run(copies, end - 40), SIGSEGV);
    ck_assert_uint_eq(reach, 60);
    ck_assert_int_eq(run(fills, end - 40), SIGSEGV);
    ck_assert_uint_eq(reach, 60);
    ck_assert_int_eq(run(fills_down, end), SIGSEGV);
    __asm__ volatile("cld");
    ck_assert_uint_eq(reach, 0);
}
END_TEST

START_TEST(pieces_are_not_known)
{
    const unsigned char load[] = {0xC5, 0xFE, 0x6F, 0x05, 0, 0, 0, 0};
    ucontext_t context;
    memset(&context, 0, sizeof context);
    for (size_t size = 0; size < sizeof load; size++)
        ck_assert_uint_eq(sc_operands_reach(load, size, &context, sizeof load, false), 0);
    ck_assert_uint_eq(sc_operands_reach(load, sizeof load, &context, sizeof load, false), 32);
}
END_TEST

static void add_of_machine(TCase *tests)
{
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, instructions_reach_as_far_as_they_fault);
    tcase_add_test(tests, searches_are_not_known);
    tcase_add_test(tests, masks_and_segments_are_not_known);
    tcase_add_test(tests, string_instructions_reach_to_their_end);
    tcase_add_test(tests, pieces_are_not_known);
}

#else

static size_t reach_at(uint32_t code, uintptr_t address)
{
    return sc_operands_reach((const unsigned char *)&code, sizeof code, NULL, address, false);
}

START_TEST(loads_and_stores_are_known)
{
    ck_assert_uint_eq(reach_at(0x39400020, PAGE + 8), 1);  /* ldrb w0, [x1] */
    ck_assert_uint_eq(reach_at(0xB9400020, PAGE + 8), 4);  /* ldr w0, [x1] */
    ck_assert_uint_eq(reach_at(0xF8408420, PAGE), 8);      /* ldr x0, [x1], #8 */
    ck_assert_uint_eq(reach_at(0x3DC00020, PAGE + 8), 16); /* ldr q0, [x1] */
    ck_assert_uint_eq(reach_at(0xBD000020, PAGE + 8), 4);  /* str s0, [x1] */
    ck_assert_uint_eq(reach_at(0xA9400820, PAGE + 8), 16); /* ldp x0, x2, [x1] */
    ck_assert_uint_eq(reach_at(0x29400820, PAGE + 8), 8);  /* ldp w0, w2, [x1] */
    ck_assert_uint_eq(reach_at(0xAD400820, PAGE + 8), 32); /* ldp q0, q2, [x1] */
    ck_assert_uint_eq(reach_at(0x88DFFC20, PAGE + 8), 4);  /* ldar w0, [x1] */
    ck_assert_uint_eq(reach_at(0xC87F0820, PAGE + 8), 16); /* ldxp x0, x2, [x1] */
    ck_assert_uint_eq(reach_at(0x4C407020, PAGE + 8), 16); /* ld1 {v0.16b}, [x1] */
    ck_assert_uint_eq(reach_at(0x4C402020, PAGE + 8), 64); /* ld1 {v0.16b-v3.16b}, [x1] */
}
END_TEST

START_TEST(others_are_not)
{
    ck_assert_uint_eq(reach_at(0x3DC00020, PAGE), 0);     /* its end may lie there */
    ck_assert_uint_eq(reach_at(0xD50B7421, PAGE + 8), 0); /* dc zva, x1 */
    ck_assert_uint_eq(reach_at(0xD503201F, PAGE + 8), 0); /* nop */
}
END_TEST

static void add_of_machine(TCase *tests)
{
    tcase_add_test(tests, loads_and_stores_are_known);
    tcase_add_test(tests, others_are_not);
}

#endif

static Suite *all_tests(void)
{
    Suite *suite = suite_create("operands");
    TCase *tests = tcase_create("reach");
    add_of_machine(tests);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(all_tests());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
