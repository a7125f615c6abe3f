/* Any bytes as the line table of a code object: the reader stays in bounds, a line is never
 * negative, and two instructions of one range have one line.
 */
#include "common/python_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *table = malloc(size + 1); /* of its own, so that a sanitizer sees its end */
    require(table != NULL);
    memcpy(table, data, size);
    for (int format = SC_PYTHON_LNOTAB; format <= SC_PYTHON_LOCATIONS; format++) {
        struct sc_python_lines lines = {
            .format = (enum sc_python_format)format,
            .first_line = size > 0 ? data[0] << 23 : 1,
            .table = table,
            .table_bytes = size,
        };
        for (uint32_t offset = 0; offset < 64; offset++)
            require(sc_python_lines_find(&lines, offset) >= 0);
        require(sc_python_lines_find(&lines, UINT32_MAX) >= 0);
        int32_t even = sc_python_lines_find(&lines, 2), odd = sc_python_lines_find(&lines, 3);
        require(format != SC_PYTHON_LOCATIONS || even == odd);
    }
    free(table);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "\4\1\2\1\2\2\4\376\14\3\12\1\2\2\2\1\4\377",
        "\377\200\2\1\377\177\377\177",
        "\361\5\2\12\13\200\101\364\6\1\16\23\220\61\213\130\362\3\1\5\17",
        "\350\177\177\177\177\177\177\177\370\350\77",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
