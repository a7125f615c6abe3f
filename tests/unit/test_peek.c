/* Looking at memory that may not be there, also where the kernel reads nothing for us. */
#include "common/peek.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/emulator.h"
#include "tests/sealed_reads.h"

enum { PAGE = 4096, WINDOW = 64 << 20 };

/* More than the kernel moves in one call. */
static const size_t LONG_BYTES = ((size_t)2 << 30) + WINDOW;

static char *map(size_t size_bytes)
{
    char *pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    return pages;
}

/* The same few pages again and again: it can be written all over. */
static char *map_windows(size_t size_bytes)
{
    int file = memfd_create("windows", 0);
    char *pages = map(size_bytes);
    ck_assert_int_eq(ftruncate(file, WINDOW), 0);
    for (size_t at = 0; at < size_bytes; at += WINDOW)
        ck_assert_ptr_eq(
            mmap(pages + at, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
            pages + at);
    close(file);
    return pages;
}

static void read_what_is_there(bool peek(void *into, uintptr_t address, size_t size_bytes))
{
    char into[2 * PAGE];
    char *pages = map(3 * PAGE);
    munmap(pages + 2 * PAGE, PAGE);
    memset(pages, 7, 2 * PAGE);
    errno = ENOTTY;
    ck_assert(peek(into, (uintptr_t)pages, 2 * PAGE));
    ck_assert_int_eq(memcmp(into, pages, 2 * PAGE), 0);
    ck_assert(!peek(into, (uintptr_t)pages + 1, 2 * PAGE));
    ck_assert(!peek(into, (uintptr_t)pages + 2 * PAGE, 1));
    ck_assert(peek(into, (uintptr_t)pages + 2 * PAGE, 0));
    mprotect(pages, PAGE, PROT_NONE);
    ck_assert(!peek(into, (uintptr_t)pages, 2 * PAGE));
    ck_assert_int_eq(errno, ENOTTY);
    munmap(pages, 2 * PAGE);
}

START_TEST(what_is_absent_is_not_read)
{
    if (kernel_peeks())
        read_what_is_there(sc_peek);
    read_what_is_there(sc_peek_anyhow);
}
END_TEST

static void read_many(void)
{
    static char into[SC_PEEK_ITEMS_MAX][16];
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
    char *pages = map(3 * PAGE);
    munmap(pages + PAGE, PAGE);
    memset(pages, 7, PAGE);
    memset(pages + 2 * PAGE, 8, PAGE);
    for (unsigned i = 0; i < SC_PEEK_ITEMS_MAX; i++)
        items[i] = (struct sc_peek_item){into[i], (uintptr_t)pages + (i % 3) * PAGE + i, 16, false};
    items[5].address = (uintptr_t)pages + PAGE - 8; /* only half of it is there */
    errno = ENOTTY;
    sc_peek_all(items, SC_PEEK_ITEMS_MAX);
    for (unsigned i = 0; i < SC_PEEK_ITEMS_MAX; i++) {
        ck_assert_int_eq(items[i].read, i % 3 != 1 && i != 5);
        if (items[i].read)
            ck_assert_int_eq(memcmp(into[i], (void *)items[i].address, 16), 0);
    }
    ck_assert_int_eq(errno, ENOTTY);
    sc_peek_all(items, 0);
    munmap(pages, PAGE);
    munmap(pages + 2 * PAGE, PAGE);
}

START_TEST(what_is_absent_among_many_is_left_out)
{
    read_many();
}
END_TEST

static void compare(void)
{
    char expected[2 * PAGE];
    char *pages = map(2 * PAGE);
    memset(expected, 7, sizeof expected);
    memset(pages, 7, PAGE);
    ck_assert(!sc_peek_equals((uintptr_t)pages, expected, 2 * PAGE));
    munmap(pages + PAGE, PAGE);
    ck_assert(sc_peek_equals((uintptr_t)pages, expected, 2 * PAGE));
    pages[5] = 8;
    ck_assert(!sc_peek_equals((uintptr_t)pages, expected, 2 * PAGE));
    munmap(pages, PAGE);
}

START_TEST(what_is_absent_does_not_differ)
{
    compare();
}
END_TEST

/* More than is read at a time, and a page of it absent. */
static void compare_around_a_hole(void)
{
    enum { PAGES = 40 };
    static char expected[PAGES * PAGE];
    char *pages = map(PAGES * PAGE);
    memset(expected, 7, sizeof expected);
    memset(pages, 7, sizeof expected);
    munmap(pages + 18 * PAGE, PAGE);
    ck_assert(sc_peek_equals((uintptr_t)pages + 3, expected, PAGES * PAGE - 3));
    const size_t changed[] = {3, 17 * PAGE + 5, 19 * PAGE, PAGES * PAGE - 1};
    for (unsigned i = 0; i < sizeof changed / sizeof *changed; i++) {
        pages[changed[i]]++;
        ck_assert(!sc_peek_equals((uintptr_t)pages + 3, expected, PAGES * PAGE - 3));
        pages[changed[i]]--;
    }
    munmap(pages, PAGES * PAGE);
}

START_TEST(what_is_around_the_absent_is_compared)
{
    compare_around_a_hole();
}
END_TEST

static void *compare_much(void *pages)
{
    static char expected[64 * PAGE];
    for (int i = 0; i < 200; i++)
        ck_assert(sc_peek_equals((uintptr_t)pages, expected, sizeof expected));
    return NULL;
}

/* They are more than there are blocks to read into. */
START_TEST(many_threads_compare_at_a_time)
{
    pthread_t threads[24];
    char *pages = map(64 * PAGE);
    for (unsigned i = 0; i < 24; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, compare_much, pages), 0);
    for (unsigned i = 0; i < 24; i++)
        pthread_join(threads[i], NULL);
    munmap(pages, 64 * PAGE);
}
END_TEST

static int lowest_free_descriptor(void)
{
    int free = dup(STDOUT_FILENO);
    close(free);
    return free;
}

/* Far more than a pipe has room for. */
static void read_much(void)
{
    enum { MUCH = 3 << 20 };
    char *from = map(MUCH);
    char *into = map(MUCH);
    for (size_t i = 0; i < MUCH; i++)
        from[i] = (char)(i * 7 + (i >> 12));
    ck_assert(sc_peek_anyhow(into, (uintptr_t)from, MUCH));
    ck_assert_int_eq(memcmp(into, from, MUCH), 0);
    ck_assert(sc_peek_equals((uintptr_t)from, into, MUCH));
    from[MUCH - 1]++;
    ck_assert(!sc_peek_equals((uintptr_t)from, into, MUCH));
    munmap(from + MUCH - PAGE, PAGE);
    ck_assert(!sc_peek_anyhow(into, (uintptr_t)from, MUCH));
    munmap(from, MUCH - PAGE);
    munmap(into, MUCH);
}

START_TEST(a_kernel_that_refuses_is_gone_round)
{
    sigset_t before;
    sigset_t after;
    int free = lowest_free_descriptor();
    ck_assert(seal_reads(_i));
    ck_assert(!sc_peek(&after, (uintptr_t)&before, sizeof before));
    sigprocmask(SIG_SETMASK, NULL, &before);
    read_what_is_there(sc_peek_anyhow);
    read_many();
    compare();
    read_much();
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(memcmp(&before, &after, 8), 0);
    ck_assert_int_eq(lowest_free_descriptor(), free);
}
END_TEST

START_TEST(without_a_descriptor_all_is_absent)
{
    struct rlimit usual;
    struct rlimit none;
    sigset_t before;
    sigset_t after;
    char from = 1;
    char into = 0;
    ck_assert(seal_reads(EPERM));
    sigprocmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = usual;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    errno = ENOTTY;
    ck_assert(!sc_peek_anyhow(&into, (uintptr_t)&from, 1));
    ck_assert(sc_peek_equals((uintptr_t)&from, &into, 1));
    ck_assert_int_eq(errno, ENOTTY);
    setrlimit(RLIMIT_NOFILE, &usual); /* a sanitizer has yet to say what it found */
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(memcmp(&before, &after, 8), 0);
}
END_TEST

START_TEST(more_than_two_gigabytes_are_read)
{
    if (!kernel_peeks())
        return;
    char *into = map_windows(LONG_BYTES);
    char *pages = map(LONG_BYTES);
    pages[LONG_BYTES - 1] = 7;
    ck_assert(sc_peek(into, (uintptr_t)pages, LONG_BYTES));
    ck_assert_int_eq(into[LONG_BYTES - 1], 7);
    munmap(pages + LONG_BYTES - PAGE, PAGE);
    ck_assert(!sc_peek(into, (uintptr_t)pages, LONG_BYTES));
    munmap(pages, LONG_BYTES - PAGE);
    munmap(into, LONG_BYTES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peek");
    TCase *group = tcase_create("peek");
    tcase_set_timeout(group, 60);
    tcase_add_test(group, what_is_absent_is_not_read);
    tcase_add_test(group, what_is_absent_among_many_is_left_out);
    tcase_add_test(group, what_is_absent_does_not_differ);
    tcase_add_test(group, what_is_around_the_absent_is_compared);
    tcase_add_test(group, many_threads_compare_at_a_time);
    tcase_add_loop_test(group, a_kernel_that_refuses_is_gone_round, EPERM, EPERM + 1);
    tcase_add_loop_test(group, a_kernel_that_refuses_is_gone_round, ENOSYS, ENOSYS + 1);
    tcase_add_test(group, without_a_descriptor_all_is_absent);
    tcase_add_test(group, more_than_two_gigabytes_are_read);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
