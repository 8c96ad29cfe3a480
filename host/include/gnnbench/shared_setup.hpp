#pragma once
#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace gnnbench {

/// What the ranks of one process have in common, of one problem: an object of each type that is asked for, made by its
/// default constructor for the first that asks. Who shares something has a type of its own for it, with what is shared as
/// its members. Ranks that are processes have none, and each makes its own.
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

/// What `place` has, made first where it has nothing yet; without a place, made for this caller. make() returns a T.
template <class T, class Make>
std::shared_ptr<const T> made_once(std::shared_ptr<const T>* place, Make&& make) {
    if (!place) return std::make_shared<const T>(std::forward<Make>(make)());
    if (!*place) *place = std::make_shared<const T>(std::forward<Make>(make)());
    return *place;
}

}  // namespace gnnbench
