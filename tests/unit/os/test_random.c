/* test_random.c: pauses double up to the longest, and of each a random half is taken. */
#include "support/test.h"

#include "os/random.h"

TEST(pauses_double) {
    static const int64_t most_ms[] = {10, 20, 40, 80, 160, 200, 200};
    for (int round = 0; round < 100; round++) {
        int64_t pause_ms = 0;
        for (size_t i = 0; i < COUNT(most_ms); i++)
            assert_in_range(rlock__backoff(&pause_ms, 10, 200), most_ms[i] / 2, most_ms[i]);
    }
}

TEST(no_two_are_alike) {
    int64_t pause_ms = 0, first = rlock__backoff(&pause_ms, 100000, 100000);
    bool differ = false;
    for (int i = 0; i < 10; i++)
        differ = differ || rlock__backoff(&pause_ms, 100000, 100000) != first;
    assert_true(differ);
}
