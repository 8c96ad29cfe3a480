#pragma once
#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace gnnbench {

/// What the ranks of one process share of one problem: one object per type, default-constructed on first use. Each user
/// defines a type of its own whose members are what it shares. Ranks that are processes of their own have no SharedSetup.
class SharedSetup {
public:
    template <class T>
    T& of() {
        std::shared_ptr<void>& kept = kept_[typeid(T)];
        if (!kept) kept = std::make_shared<T>();
        return *static_cast<T*>(kept.get());
    }

private:
    std::map<std::type_index, std::shared_ptr<void>> kept_;
};

/// The object in `place`, created by make() if `place` is empty. A null `place` shares nothing: the caller gets its own.
template <class T, class Make>
std::shared_ptr<const T> made_once(std::shared_ptr<const T>* place, Make&& make) {
    if (!place) return std::make_shared<const T>(std::forward<Make>(make)());
    if (!*place) *place = std::make_shared<const T>(std::forward<Make>(make)());
    return *place;
}

}  // namespace gnnbench
