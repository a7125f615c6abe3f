/* Any bytes as text for a terminal: what is shown does no harm, is no longer than promised, is cut
 * between characters, and is the same text where that did no harm.
 */
#include "common/text.h"
#include "report/plain.h"
#include "tests/fuzz/terminal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What is shown of `count` bytes where there is room for `size`; the caller frees it. */
static struct sc_text show(const char *bytes, size_t count, size_t size)
{
    char *room = malloc(size);
    struct sc_text text;
    require(room != NULL);
    text = sc_text_in(room, size);
    sc_plain_put(&text, bytes, count);
    require(strlen(room) == text.used);
    terminal_take(text.bytes, text.used, "");
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct sc_text whole = show(bytes, size, SC_PLAIN_GROWTH * size + 1);
    struct sc_text part = show(bytes, size, whole.used / 2 + 1);
    struct sc_text again = show(whole.bytes, whole.used, whole.used + 1);
    require(!whole.cut && !again.cut);
    require(strcmp(again.bytes, whole.bytes) == 0);
    require(strncmp(part.bytes, whole.bytes, part.used) == 0);
    free(whole.bytes);
    free(part.bytes);
    free(again.bytes);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "",
        "/opt/app/train",
        "\033[2J\033]0;title\007\n\r\t\177",
        "\xc2\x80\xc2\x9b\xc2\x9d\xc2\x9f\xc2\xa0",
        "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xa9",
        "\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae",
        "\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9",
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf \xef\xbf\xbf",
        "\xc0\x9b\xe0\x82\x9b\xed\xa0\x80\xf4\x90\x80\x80\xff\xfe\x9b",
    };
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
