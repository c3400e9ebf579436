/* fuzz_duration.c: durations. What is shown of one can be read, and is not longer. */
#include "fuzz.h"

#include "output/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t ms = -1, again = -1;
    char shown[DURATION_TEXT_SIZE], *text = fuzz_text(data, size);
    if (duration_parse(&ms, text) == NULL) {
        assert(ms >= 0 && ms <= DURATION_MAX_MS);
        (void)duration_format(shown, ms);
        assert(strlen(shown) < sizeof shown);
        if (duration_parse(&again, shown) == NULL) /* it takes one unit, and two may be shown */
            assert(again <= ms);
    } else {
        assert(ms == -1);
    }
    free(text);
    return 0;
}
