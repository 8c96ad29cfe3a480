// A pickle is a program for a stack machine (Python's Lib/pickletools.py describes it). This machine knows the
// instructions that data needs, and permits "call this object" only for a handful of objects.
#include <data/importers/pickle.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include <data/importers/pickle_objects.hpp>

namespace gnnbench {

namespace {

class Machine {
public:
    Machine(std::span<const std::byte> program, const std::string& where) : program_(program), where_(where) {}

    Pickle run() {
        if (take(1)[0] != '\x80') fail("no pickle of protocol 2 or 3");
        if (auto protocol = number<std::uint8_t>(); protocol != 2 && protocol != 3)
            fail(fmt::format("a pickle of protocol {}; 2 and 3 are read", protocol));
        for (;;) {
            auto instruction = take(1)[0];
            if (instruction == '.') {
                made_.root = pop();
                return std::move(made_);
            }
            step(instruction);
        }
    }

private:
    [[noreturn]] void fail(const std::string& finding) const {
        throw DataError(
            fmt::format("{}: expected pickled arrays, lists and dictionaries, found {}", where_, finding));
    }

    std::string_view take(std::size_t count) {
        if (count > program_.size() - at_) fail("its end too early; the file is incomplete");
        at_ += count;
        return {reinterpret_cast<const char*>(program_.data()) + at_ - count, count};
    }
    template <class T>
    T number() {
        T value;
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): as many bytes as are taken
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }
    std::string line() {
        std::string text;
        for (char c = take(1)[0]; c != '\n'; c = take(1)[0]) text += c;
        return text;
    }

    template <class T>
    void push(T value) {
        stack_.push_back(made_.add(PickleValue{std::move(value)}));
    }
    PicklePtr pop() {
        if (stack_.empty()) fail("an instruction without its operand");
        auto top = stack_.back();
        stack_.pop_back();
        return top;
    }
    PicklePtr& top() {
        if (stack_.empty()) fail("an instruction without its operand");
        return stack_.back();
    }
    std::vector<PicklePtr> pop_to_mark() {
        auto mark = std::find_if(stack_.rbegin(), stack_.rend(),
                                 [](const auto& v) { return std::holds_alternative<PickleMark>(v->is); });
        if (mark == stack_.rend()) fail("an instruction without its mark");
        std::vector<PicklePtr> items(mark.base(), stack_.end());
        stack_.erase(mark.base() - 1, stack_.end());
        return items;
    }
    std::vector<PicklePtr> pop_many(std::size_t count) {
        std::vector<PicklePtr> items(count);
        for (auto i = count; i > 0; --i) items[i - 1] = pop();
        return items;
    }

    void append(std::vector<PicklePtr> items) {
        auto list = std::get_if<PickleList>(&top()->is);
        if (!list) fail("items for an object that is not a list");
        list->items.insert(list->items.end(), items.begin(), items.end());
    }
    void set_items(const std::vector<PicklePtr>& items) {
        auto dict = std::get_if<PickleDict>(&top()->is);
        if (!dict || items.size() % 2 != 0) fail("items for an object that is not a dictionary");
        for (std::size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
    }
    void memo_put(std::uint32_t key) { memo_[key] = top(); }
    void memo_get(std::uint32_t key) {
        auto found = memo_.find(key);
        if (found == memo_.end()) fail("a reference to an object that was never stored");
        stack_.push_back(found->second);
    }

    void step(char instruction) {
        if (step_number(instruction) || step_text(instruction) || step_memo(instruction) ||
            step_container(instruction))
            return;
        switch (instruction) {
            case 'c': {
                auto module = line();
                return push(admitted_global(module + " " + line(), where_));
            }
            case 'R':
            case '\x81': {
                auto args = pop(), callee = pop();
                return stack_.push_back(made_.add(call_global(*callee, *args, where_)));
            }
            case 'b': {
                // Each copies its state, and a state may be reused: a small file could request any amount of memory.
                if (++builds_ > most_builds) fail(fmt::format("more than {} arrays", most_builds));
                auto state = pop();
                return build_object(*top(), *state, where_);
            }
            default:
                fail(fmt::format("instruction 0x{:02x}, which data does not need",
                                 static_cast<unsigned char>(instruction)));
        }
    }
    bool step_number(char instruction) {
        switch (instruction) {
            case 'N':
                push(PickleNone{});
                return true;
            case '\x88':
                push(true);
                return true;
            case '\x89':
                push(false);
                return true;
            case 'K':
                push(std::int64_t{number<std::uint8_t>()});
                return true;
            case 'M':
                push(std::int64_t{number<std::uint16_t>()});
                return true;
            case 'J':
                push(std::int64_t{number<std::int32_t>()});
                return true;
            case 'G':
                push(std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())));
                return true;
            case '\x8a':
                push_long();
                return true;
            default:
                return false;
        }
    }
    void push_long() {
        auto digits = take(number<std::uint8_t>());
        if (digits.size() > 8) fail("an integer of more than 64 bits");
        std::int64_t value = 0;
        for (auto i = digits.size(); i > 0; --i)
            value = i == digits.size() ? static_cast<signed char>(digits[i - 1])
                                       : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 8 |
                                                                   static_cast<unsigned char>(digits[i - 1]));
        push(value);
    }
    bool step_text(char instruction) {
        switch (instruction) {
            case 'U':
            case 'C':
                push(std::string(take(number<std::uint8_t>())));
                return true;
            case 'T':
            case 'B':
            case 'X':
                push(std::string(take(number<std::uint32_t>())));
                return true;
            default:
                return false;
        }
    }
    bool step_memo(char instruction) {
        switch (instruction) {
            case 'q':
                memo_put(number<std::uint8_t>());
                return true;
            case 'r':
                memo_put(number<std::uint32_t>());
                return true;
            case 'h':
                memo_get(number<std::uint8_t>());
                return true;
            case 'j':
                memo_get(number<std::uint32_t>());
                return true;
            default:
                return false;
        }
    }
    bool step_container(char instruction) {
        switch (instruction) {
            case '(':
                push(PickleMark{});
                return true;
            case ')':
                push(PickleTuple{});
                return true;
            case 't':
                push(PickleTuple{pop_to_mark()});
                return true;
            case '\x85':
                push(PickleTuple{pop_many(1)});
                return true;
            case '\x86':
                push(PickleTuple{pop_many(2)});
                return true;
            case '\x87':
                push(PickleTuple{pop_many(3)});
                return true;
            case ']':
                push(PickleList{});
                return true;
            case 'a':
                append(pop_many(1));
                return true;
            case 'e':
                append(pop_to_mark());
                return true;
            case '}':
                push(PickleDict{});
                return true;
            case 's':
                set_items(pop_many(2));
                return true;
            case 'u':
                set_items(pop_to_mark());
                return true;
            default:
                return false;
        }
    }

    std::span<const std::byte> program_;
    const std::string& where_;
    static constexpr int most_builds = 64;  // a CSR matrix needs seven
    std::size_t at_ = 0;
    int builds_ = 0;
    Pickle made_;
    std::vector<PicklePtr> stack_;
    std::unordered_map<std::uint32_t, PicklePtr> memo_;
};

}  // namespace

Pickle load_pickle(std::span<const std::byte> bytes, const std::string& where) {
    return Machine(bytes, where).run();
}

}  // namespace gnnbench
