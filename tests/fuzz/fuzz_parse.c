/* Any bytes as JSON: what the command's own parser takes and gives is what jansson does, with
 * pieces and packed as well.
 */
// cflags: -Wl,--no-as-needed -ljansson

#include "report/command/parse.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first time pieces are added, the second time found. */
static void require_alike(const char *text, size_t size, json_t *plain)
{
    struct sc_pieces pieces = {0};
    for (int i = 0; i < 2; i++) {
        json_t *shared = sc_parse_line(text, size, &pieces);
        size_t packed_size = 0;
        char *packed = shared ? sc_pieces_pack(&pieces, text, size, &packed_size) : NULL;
        json_t *again = packed ? sc_parse_packed(packed, packed_size) : NULL;
        if (!shared != !plain || !again != !plain ||
            (plain && (!json_equal(plain, shared) || !json_equal(plain, again))))
            abort();
        json_decref(shared);
        json_decref(again);
        free(packed);
    }
    sc_pieces_free(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    json_t *own = sc_parse(text, size);
    json_t *other = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    /* jansson passes over some NULs. */
    bool has_nul = size > 0 && memchr(text, '\0', size);
    bool is_alike = has_nul ? !own : !own == !other && (!own || json_equal(own, other));
    if (!is_alike)
        abort();
    require_alike(text, size, own);
    json_decref(own);
    json_decref(other);
    return 0;
}

#ifdef SC_FUZZ_STANDALONE
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define FUZZ_COUNT 4000
#endif
#include "tests/fuzz/standalone.h"

int main(int argc, char **argv)
{
    static char deeper[4100], deep[4100];
    const char *const seeds[] = {
        "",
        " {\"type\" : \"run\",\n\"pid\":-7, \"list\":[1,2.5e-3,true,false,null,\"\"], "
        "\"o\":{}}\t\r\n",
        "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\\uffff\\u0001\"}",
        "[\"\\u0000\",\"\\ud800\",\"\\udc00\",\"\\ud800\\ud800\",\"\\x\",\"\\u12\"]",
        "[9223372036854775807,-9223372036854775808,-0,0,0.0,1e5,1E+5,1.5e-400]",
        "[9223372036854775808]",
        "[1e400]",
        "[01,-,+1,.5,1.,1e,0x1,NaN]",
        "{\"a\":1,\"a\":2}",
        "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80\xc0\x80\xff\x7f\"]",
        "[1] 2",
        "{\"stack\":[{\"module\":\"/lib/libtrain.so\",\"offset\":\"0x12\"},"
        "{\"module\":\"/lib/libtrain.so\",\"offset\":\"0x12\"},"
        "{\"file\":\"a}\\\"{].py\",\"line\":7,\"function\":\"f\"}]}",
        "{\"long key long key long key long key long key long key long key long key\":[]}",
        deep,
        deeper,
    };
    memset(deep, '[', 2049);
    memset(deep + 2049, ']', 2049);
    memset(deeper, '[', 2048);
    memset(deeper + 2048, ']', 2048);
    return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0]);
}
#endif
