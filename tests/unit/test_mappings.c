/* What kind of memory a mapping is, by either way of asking the kernel. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/emulator.h"
#include "tests/sealed_reads.h"

static void *take(size_t size_bytes)
{
    return calloc(1, size_bytes);
}

static void give(void *memory)
{
    free(memory);
}

#include "interpose/base/mappings.c" /* poisons, so it comes last */

enum { LARGE = 300 << 10 };
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* Pages that somebody else has protected. */
static struct {
    uintptr_t start, end;
} guarded;

static uintptr_t disguised(uintptr_t address, uintptr_t end)
{
    bool is_guarded = guarded.start <= address && address < guarded.end;
    uintptr_t until = is_guarded ? guarded.end : address;
    return until < end ? until : end;
}

static enum kind kind_now(uintptr_t address, size_t size_bytes, bool by_reading)
{
    int fd = open_mappings();
    remember_stretch(0, 0, NOT_PLAIN);
    enum kind kind = by_reading ? kind_by_reading(fd, address, address + size_bytes, disguised)
                                : kind_between(fd, address, address + size_bytes, disguised);
    close_mappings(fd);
    return kind;
}

static void expect(const void *memory, size_t size_bytes, enum kind expected)
{
    uintptr_t address = (uintptr_t)memory & -(uintptr_t)PAGE;
    size_t whole = ((uintptr_t)memory + size_bytes - address + PAGE - 1) & -(size_t)PAGE;
    ck_assert_int_eq(kind_now(address, whole, true), expected);
    ck_assert_int_eq(kind_now(address, whole, false), expected);
    ck_assert_int_eq(sc_mappings_are_plain((uintptr_t)memory, size_bytes, disguised),
                     expected != NOT_PLAIN);
    ck_assert_int_eq(sc_mappings_are_plain_heap((uintptr_t)memory, size_bytes, disguised),
                     expected == PLAIN);
}

/* A sanitizer's own heap begins where there is no access below, and then counts as a stack. */
static void expect_heap(const void *memory, size_t size_bytes)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    ck_assert(sc_mappings_are_plain((uintptr_t)memory, size_bytes, disguised));
#else
    expect(memory, size_bytes, PLAIN);
#endif
}

START_TEST(the_heap_is_plain)
{
    void *small = take(LARGE / 4);
    void *large = take(LARGE * 10);
    expect_heap(small, LARGE / 4);
    expect_heap(large, LARGE * 10);
    give(small);
    give(large);
}
END_TEST

START_TEST(what_may_not_be_written_is_not_plain)
{
    char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(pages, 4 * PAGE, PLAIN);
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
    expect(pages, 4 * PAGE, NOT_PLAIN);
    expect(pages, 2 * PAGE, PLAIN);
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    expect(pages + 2 * PAGE, PAGE, NOT_PLAIN);
    munmap(pages + 2 * PAGE, PAGE);
    expect(pages, 4 * PAGE, NOT_PLAIN);
    munmap(pages, 4 * PAGE);
}
END_TEST

static void *look_at_locals(void *heap)
{
    char local[LARGE];
    void *own = take(LARGE / 4);
    memset(local, 1, sizeof local);
    expect(local, sizeof local, PLAIN_STACK);
    /* Of an arena of the thread's, which may adjoin a stack and then counts as one. */
    ck_assert(sc_mappings_are_plain((uintptr_t)own, LARGE / 4, disguised));
    expect_heap(heap, LARGE / 4);
    give(own);
    return NULL;
}

START_TEST(a_threads_stack_is_told_from_its_heap)
{
    pthread_t threads[3];
    void *heap = take(LARGE / 4);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_at_locals, heap), 0);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    give(heap);
}
END_TEST

/* A thread's stack may begin where an arena may. Once more where the kernel reads no memory for us.
 */
START_TEST(an_arena_is_told_from_a_stack_by_its_head)
{
    if (_i == 1)
        ck_assert(seal_reads(EPERM));
    size_t size_bytes = 3 * ARENA_BYTES;
    char *room =
        mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(room, MAP_FAILED);
    char *arena = (char *)(((uintptr_t)room + ARENA_BYTES) & -ARENA_BYTES);
    char *stack = arena + ARENA_BYTES / 2;
    mprotect(arena, 2 * PAGE, PROT_READ | PROT_WRITE);
    expect(arena, 2 * PAGE, PLAIN_STACK);
    memset(arena, 1, PAGE);
    expect(arena, 2 * PAGE, PLAIN_STACK);
    *(struct arena_head *)arena =
        (struct arena_head){(uintptr_t)arena + sizeof(struct arena_head), 0, PAGE, 2 * PAGE};
    mprotect(stack, 2 * PAGE, PROT_READ | PROT_WRITE);
    expect(arena, 2 * PAGE, PLAIN);
    expect(stack, 2 * PAGE, PLAIN_STACK);
    munmap(room, size_bytes);
}
END_TEST

START_TEST(an_answer_is_kept_until_the_mapping_changes)
{
    char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_int_eq(kind_now((uintptr_t)pages, 4 * PAGE, true), PLAIN);
    mprotect(pages, PAGE, PROT_READ);
    ck_assert(sc_mappings_are_plain((uintptr_t)pages, 4 * PAGE, disguised));
    sc_mappings_forget((uintptr_t)pages, PAGE);
    ck_assert(!sc_mappings_are_plain((uintptr_t)pages, 4 * PAGE, disguised));
    munmap(pages, 4 * PAGE);
}
END_TEST

static void guard(char *pages, size_t size_bytes, int protection)
{
    mprotect(pages, size_bytes, protection);
    guarded.start = (uintptr_t)pages;
    guarded.end = guarded.start + size_bytes;
}

START_TEST(guarded_pages_are_what_they_were)
{
    char *pages = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages, PAGE, PROT_READ); /* whatever lies below */
    guard(pages + 3 * PAGE, 2 * PAGE, PROT_READ);
    expect(pages + PAGE, 7 * PAGE, PLAIN);
    expect(pages + 4 * PAGE, 2 * PAGE, PLAIN);
    expect(pages, 8 * PAGE, NOT_PLAIN);
    guard(pages + 3 * PAGE, 2 * PAGE, PROT_NONE);
    expect(pages + PAGE, 7 * PAGE, PLAIN);
    expect(pages + 5 * PAGE, 3 * PAGE, PLAIN);   /* no stack above them */
    mprotect(pages + 5 * PAGE, PAGE, PROT_NONE); /* the program's, which adjoins */
    expect(pages + PAGE, 5 * PAGE, NOT_PLAIN);
    expect(pages + 6 * PAGE, 2 * PAGE, PLAIN_STACK);
    guarded.start = guarded.end = 0;
    munmap(pages, 8 * PAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mappings");
    TCase *group = tcase_create("mappings");
    if (!getenv("SAFECOPY_FEW_ROUNDS")) { /* memcheck's heap may be executed, so it is not plain */
        tcase_add_test(group, guarded_pages_are_what_they_were);
        tcase_add_test(group, the_heap_is_plain);
        tcase_add_test(group, a_threads_stack_is_told_from_its_heap);
        if (kernel_peeks())
            tcase_add_loop_test(group, an_arena_is_told_from_a_stack_by_its_head, 0, 2);
    }
    if (maps_show_written_code())
        tcase_add_test(group, what_may_not_be_written_is_not_plain);
    tcase_add_test(group, an_answer_is_kept_until_the_mapping_changes);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
