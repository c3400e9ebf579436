/* fuzz_options.c: command lines. The first byte says of which command, each NUL ends a word. */
#include "fuzz.h"

#include "commands.h"
#include "options/opt.h"

enum { WORDS_MAX = 32 };

static const char *const commands[][2] = {
    {"run"},          {"fair"},           {"read"},          {"write"},         {"sem"},
    {"latch", "set"}, {"break"},          {"latch", "down"}, {"latch", "wait"}, {"status"},
    {"check"},        {"acquire", "run"}, {"release"},       {"renew"},         {"doctor"},
};

static const struct cmd *find(const char *const words[2]) {
    const struct cmd *cmd = cmd_find(&cmd_rlock, words[0]);
    return words[1] != NULL ? cmd_find(cmd, words[1]) : cmd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const struct cmd *cmd = find(commands[data[0] % (sizeof commands / sizeof commands[0])]);
    char *text = fuzz_text(data + 1, size - 1), *argv[WORDS_MAX + 2] = {(char *)cmd->name};
    struct settings settings = {.cmd = cmd};
    struct complaint why = {0};
    int argc = 1;
    for (char *word = text; word <= text + size - 1 && argc <= WORDS_MAX; word += strlen(word) + 1)
        argv[argc++] = word;
    const bool preset = opt_preset(&settings, &why);
    assert(preset);
    if (opt_parse(&settings, argc, argv, &why) == SETTINGS_BAD)
        assert(why.status != 0 && why.text[0] != '\0');
    settings_free(&settings);
    free(text);
    return 0;
}
