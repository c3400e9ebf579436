// guard.cpp: a lock as C++ has them: held from its construction to the end of its scope.
//
// usage: guard NAME URL
#include <rlock.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

class Guard {
  public:
    Guard(rlock_client *client, const std::string &name) {
        const char *names[] = {name.c_str()};
        rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
        options.names = names;
        options.name_count = 1;
        rlock_lock *made = nullptr;
        auto status = rlock_lock_new(&made, client, &options);
        lock.reset(made);
        rlock_wait wait = RLOCK_WAIT_INIT;
        wait.deadline_ms = rlock_now_ms() + 2000;
        if (status == RLOCK_OK)
            status = rlock_acquire(made, &wait);
        if (status != RLOCK_OK)
            throw std::runtime_error(std::string(rlock_status_text(status)) + ": " +
                                     rlock_error(client));
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    ~Guard() {
        // Whoever wants to know whether it was lost meanwhile asks rlock_renew() before the end.
        (void)!rlock_release(lock.get(), 0, rlock_now_ms() + 2000);
    }
    int64_t token() const {
        return rlock_hold_at(lock.get(), 0)->token;
    }

  private:
    struct Free {
        void operator()(rlock_lock *lock) const {
            rlock_lock_free(lock);
        }
    };
    std::unique_ptr<rlock_lock, Free> lock;
};

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: guard NAME URL\n";
        return 64;
    }
    const char *server = argv[2];
    rlock_client_options options = RLOCK_CLIENT_OPTIONS_INIT;
    options.servers = &server;
    options.server_count = 1;
    rlock_client *made = nullptr;
    const auto status = rlock_client_new(&made, &options);
    const std::unique_ptr<rlock_client, decltype(&rlock_client_free)> client(made,
                                                                             rlock_client_free);
    try {
        if (status != RLOCK_OK)
            throw std::runtime_error(rlock_error(made));
        const Guard guard(made, argv[1]);
        std::cout << "token " << guard.token() << '\n';
    } catch (const std::exception &error) {
        std::cerr << "guard: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
