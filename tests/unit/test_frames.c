/* Notes of functions that run: what is nested, what was left by a jump, and other stacks. */
#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "common/frames.h"
#include "tests/emulator.h"

enum { STACK_BYTES = 4 * 1024 * 1024, SMALL_BYTES = 16 * 1024, DEEP_BYTES = 100 * 1024 };

#define NOINLINE __attribute__((noinline))

static __thread struct sc_frame note;
static sigjmp_buf back;
static bool seen;
static ucontext_t main_fiber, other_fiber;

static NOINLINE void look(void)
{
    seen = sc_frame_is_noted(&note);
}

static NOINLINE void look_from_depth(void)
{
    volatile char room[DEEP_BYTES];
    room[0] = room[DEEP_BYTES - 1] = 1;
    look();
    room[0] = 2;
}

/* Runs `inside` while the note is there. */
static NOINLINE void run_noted(void (*inside)(void))
{
    struct sc_frame outer = sc_frame_enter(&note, SC_FRAME());
    inside();
    sc_frame_leave(&note, &outer);
}

/* Calls from where run_noted was called, at the same depth. */
static NOINLINE void run_plain(void (*inside)(void))
{
    inside();
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void jump(void)
{
    siglongjmp(back, 1);
}

static void leave_by_jump(void)
{
    if (sigsetjmp(back, 0) == 0)
        run_noted(jump);
}

static NOINLINE void leave_by_jump_from_depth(void)
{
    volatile char room[DEEP_BYTES];
    room[0] = room[DEEP_BYTES - 1] = 1;
    run_noted(jump);
    room[0] = 2;
}

START_TEST(marks_far_above_are_told_apart)
{
    for (int i = 0; i < 3; i++) {
        run_noted(look_from_depth);
        ck_assert(seen);
        leave_by_jump();
        run_plain(look_from_depth);
        ck_assert(!seen);
    }
}
END_TEST

START_TEST(a_mark_lives_as_long_as_its_function)
{
    look();
    ck_assert(!seen);
    run_noted(look);
    ck_assert(seen);
    run_noted(look_from_depth);
    ck_assert(seen);
    look();
    ck_assert(!seen);
    ck_assert_uint_eq(note.place, 0);
}
END_TEST

static NOINLINE void nest(void)
{
    run_noted(look);
    ck_assert(seen);
    look();
}

START_TEST(marks_nest)
{
    run_noted(nest);
    ck_assert(seen);
    ck_assert_uint_eq(note.place, 0);
}
END_TEST

START_TEST(a_mark_left_by_a_jump_is_gone)
{
    leave_by_jump();
    run_plain(look);
    ck_assert(!seen);
    run_plain(look_from_depth);
    ck_assert(!seen);
}
END_TEST

START_TEST(a_mark_left_by_a_jump_does_not_come_back)
{
    leave_by_jump();
    run_noted(look);
    ck_assert(seen);
    ck_assert_uint_eq(note.place, 0);
}
END_TEST

START_TEST(a_mark_below_the_running_frame_is_gone)
{
    if (sigsetjmp(back, 0) == 0)
        leave_by_jump_from_depth();
    look();
    ck_assert(!seen);
}
END_TEST

/* ---- other stacks ---- */

static void on_signal(int number)
{
    (void)number;
    look();
}

static NOINLINE void be_interrupted(void)
{
    raise(SIGUSR1);
}

static void *interrupt(void *alternate)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = STACK_BYTES};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    run_noted(be_interrupted);
    return NULL;
}

/* A thread's stack and its handlers', one behind the other in memory. */
static void interrupt_with_stacks(bool alternate_is_above)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    pthread_attr_t attributes;
    pthread_t thread;
    char *memory =
        mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    char *own = alternate_is_above ? memory : memory + STACK_BYTES;
    char *alternate = alternate_is_above ? memory + STACK_BYTES : memory;
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, own, STACK_BYTES), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, interrupt, alternate), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(munmap(memory, 2 * STACK_BYTES), 0);
}

START_TEST(a_mark_lives_while_a_handler_runs_on_a_stack_above)
{
    interrupt_with_stacks(true);
    ck_assert(seen);
}
END_TEST

START_TEST(a_mark_lives_while_a_handler_runs_on_a_stack_below)
{
    interrupt_with_stacks(false);
    ck_assert(seen);
}
END_TEST

static NOINLINE void change_stack(void)
{
    swapcontext(&other_fiber, &main_fiber);
}

static void be_a_fiber(void)
{
    run_noted(change_stack);
}

static void run_fiber(char *stack, size_t size, void (*function)(void))
{
    ck_assert_int_eq(getcontext(&other_fiber), 0);
    other_fiber.uc_stack = (stack_t){.ss_sp = stack, .ss_size = size};
    other_fiber.uc_link = &main_fiber;
    makecontext(&other_fiber, function, 0);
    ck_assert_int_eq(swapcontext(&main_fiber, &other_fiber), 0);
}

static char *map_stack(size_t size)
{
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(stack != MAP_FAILED);
    return stack;
}

START_TEST(a_mark_on_a_stack_that_is_gone_harms_nobody)
{
    char *stack = map_stack(STACK_BYTES);
    run_fiber(stack, STACK_BYTES, be_a_fiber);
    ck_assert_uint_ne(note.place, 0);
    ck_assert_int_eq(munmap(stack, STACK_BYTES), 0);
    look();
    ck_assert(!seen);
}
END_TEST

START_TEST(nor_does_one_on_a_stack_near_above_the_running_one)
{
    char *stacks = map_stack(2 * SMALL_BYTES);
    run_fiber(stacks + SMALL_BYTES, SMALL_BYTES, be_a_fiber);
    ck_assert_uint_ne(note.place, 0);
    ck_assert_int_eq(munmap(stacks + SMALL_BYTES, SMALL_BYTES), 0);
    seen = true;
    run_fiber(stacks, SMALL_BYTES, look);
    ck_assert(!seen);
    ck_assert_int_eq(munmap(stacks, SMALL_BYTES), 0);
}
END_TEST

int main(void)
{
    TCase *one = tcase_create("frames");
    tcase_add_test(one, a_mark_lives_as_long_as_its_function);
    if (kernel_peeks())
        tcase_add_test(one, marks_far_above_are_told_apart);
    tcase_add_test(one, marks_nest);
    if (kernel_peeks())
        tcase_add_test(one, a_mark_left_by_a_jump_is_gone);
    tcase_add_test(one, a_mark_left_by_a_jump_does_not_come_back);
    tcase_add_test(one, a_mark_below_the_running_frame_is_gone);
    tcase_add_test(one, a_mark_lives_while_a_handler_runs_on_a_stack_above);
    tcase_add_test(one, a_mark_lives_while_a_handler_runs_on_a_stack_below);
    if (kernel_peeks()) {
        tcase_add_test(one, a_mark_on_a_stack_that_is_gone_harms_nobody);
        tcase_add_test(one, nor_does_one_on_a_stack_near_above_the_running_one);
    }
    Suite *suite = suite_create("frames");
    suite_add_tcase(suite, one);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
