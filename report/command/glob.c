#include "report/command/glob.h"

#include <stddef.h>

/* A mismatch goes back to the last star only: an earlier one could give nothing that it does not.
 */
bool sc_glob_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
