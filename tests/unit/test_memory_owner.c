#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_lines.h"
#include "report/memory_owner.h"

static struct sc_json_lines_stack stack;

static void add_module(const char *module)
{
    stack.frames[stack.count++] = (struct sc_report_frame){.module = module};
}

static void add_python(const char *file)
{
    stack.frames[stack.count++] = (struct sc_report_frame){
        .is_python = true, .python = {.file = file, .file_bytes = (unsigned)strlen(file)}};
}

static void empty(void)
{
    memset(&stack, 0, sizeof stack);
}

static void expect(const char *owner)
{
    char name[64];
    sc_memory_owner_name(&stack, name, sizeof name);
    ck_assert_str_eq(name, owner);
}

START_TEST(a_library_has_its_users_name_for_it)
{
    add_module("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
    add_module("/opt/cuda/lib64/libcudart.so.13");
    add_module("/opt/venv/lib/python3.12/site-packages/torch/lib/libc10_cuda.so");
    add_module("/usr/bin/python3.12");
    expect("PyTorch");
}
END_TEST

START_TEST(a_package_has_its_users_name_for_it)
{
    add_module(
        "/opt/venv/lib/python3.12/site-packages/cupy_backends/cuda/api/runtime.cpython-312.so");
    expect("CuPy");
    empty();
    add_module("/opt/venv/lib/python3.12/site-packages/cuda/bindings/driver.cpython-312.so");
    add_python("/opt/venv/lib/python3.12/site-packages/numba/cuda/cudadrv/driver.py");
    expect("Numba");
}
END_TEST

START_TEST(others_have_the_name_of_their_file_or_package)
{
    add_module("/opt/app/lib/libsolver.so.3");
    expect("libsolver.so.3");
    empty();
    add_python("/opt/venv/lib/python3.12/dist-packages/solver/memory.py");
    expect("solver");
    empty();
    expect("unknown");
}
END_TEST

START_TEST(a_long_name_is_cut_between_characters)
{
    static const char most[] = "libabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefg";
    char module[128] = "/opt/app/lib/";
    ck_assert_uint_eq(strlen(most), 62);
    strcat(strcat(module, most), "\xc3\xa9.so");
    add_module(module);
    expect(most);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_owner");
    TCase *tests = tcase_create("memory_owner");
    tcase_add_checked_fixture(tests, empty, NULL);
    tcase_add_test(tests, a_library_has_its_users_name_for_it);
    tcase_add_test(tests, a_package_has_its_users_name_for_it);
    tcase_add_test(tests, others_have_the_name_of_their_file_or_package);
    tcase_add_test(tests, a_long_name_is_cut_between_characters);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
