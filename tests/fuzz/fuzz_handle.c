/* fuzz_handle.c: handles. One that is read makes a lock, or is refused. */
#include "fuzz.h"

#include "rlock_handle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rlock_handle *handle;
    rlock_lock *lock;
    char *text = fuzz_text(data, size);
    if (rlock_handle_read(&handle, text) == RLOCK_OK) {
        rlock_client *client = fuzz_client("unix:///nowhere", 1000);
        assert(handle->hold_count > 0);
        if (rlock_lock_resume(&lock, client, handle) == RLOCK_OK) {
            char *written;
            if (rlock_handle_write(&written, lock, handle->servers) == RLOCK_OK)
                free(written);
            rlock_lock_free(lock);
        }
        rlock_client_free(client);
        rlock_handle_free(handle);
    }
    free(text);
    return 0;
}
