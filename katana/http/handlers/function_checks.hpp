// Checks of a function that is given as a handler or as middleware. A mistake is one sentence of
// the compiler. The check comes before anything is made of the function, and nothing else fails.
//
// Thread     none: all of it happens while a program is compiled.
// Allocates  nothing.
// Fails      by a static assertion that names the remedy.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "katana/base/coroutine/task.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/handler.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana::detail {

template <class P>
inline constexpr bool is_own_parameter = false;
template <class T>
inline constexpr bool is_own_parameter<Inject<T>> = true;
template <class T>
inline constexpr bool is_own_parameter<FromContext<T>> = true;
template <class P>
  requires(std::same_as<P, RequestView> || std::same_as<P, ContentReader> ||
           std::same_as<P, ReplyWriter> || std::same_as<P, RequestLease>)
inline constexpr bool is_own_parameter<P> = true;

template <class P>
inline constexpr bool is_parameter =
    is_own_parameter<P> || ByFromRequest<P> || requires { sizeof(Extractor<P>); };
template <class Parameters>
inline constexpr bool are_parameters = false;
template <class... P>
inline constexpr bool are_parameters<std::tuple<P...>> = (is_parameter<P> && ...);

enum class Misuse : std::uint8_t {
  none,
  no_function,
  unknown_parameter,
  path,
  stream,
  always_answers,
  borrowed,
  reference,
  no_writer,
  no_stream,
  content_twice,
  no_reply,
};

template <class Function>
consteval Misuse misuse_of_parameters() {
  if (!are_parameters<typename Function::Parameters>) return Misuse::unknown_parameter;
  if (!is_task<typename Function::Return>) return Misuse::none;
  if (has_parameter<typename Function::Parameters, RequestView>) return Misuse::borrowed;
  return Function::takes_references ? Misuse::reference : Misuse::none;
}

template <class F>
consteval Misuse handler_misuse() {
  if constexpr (!HasSignature<F>) {
    return Misuse::no_function;
  } else {
    using Function = Signature<F>;
    using Parameters = typename Function::Parameters;
    using Return = typename Function::Return;
    constexpr Misuse found = misuse_of_parameters<Function>();
    if constexpr (found != Misuse::none) {
      return found;
    } else if constexpr (std::same_as<Return, Task<void>>) {
      if (!has_parameter<Parameters, ReplyWriter>) return Misuse::no_writer;
      const bool both = has_parameter<Parameters, ContentReader> && any_wants_content<Parameters>;
      return both ? Misuse::content_twice : Misuse::none;
    } else {
      const bool reads = has_parameter<Parameters, ContentReader>;
      if (has_parameter<Parameters, ReplyWriter>) return Misuse::no_stream;
      if (reads && !is_task<Return>) return Misuse::no_stream;
      if (reads && any_wants_content<Parameters>) return Misuse::content_twice;
      return Replies<typename WithoutTask<Return>::Type> ? Misuse::none : Misuse::no_reply;
    }
  }
}

template <class F>
consteval Misuse middleware_misuse() {
  if constexpr (!HasSignature<F>) {
    return Misuse::no_function;
  } else {
    using Function = Signature<F>;
    using Parameters = typename Function::Parameters;
    constexpr Misuse found = misuse_of_parameters<Function>();
    if constexpr (found != Misuse::none) {
      return found;
    } else {
      if (path_count<Parameters> != 0) return Misuse::path;
      if (has_parameter<Parameters, ContentReader> || has_parameter<Parameters, ReplyWriter>) {
        return Misuse::stream;
      }
      using Value =
          typename ReturnedValue<typename WithoutTask<typename Function::Return>::Type>::Type;
      return std::same_as<Value, Reply> ? Misuse::always_answers : Misuse::none;
    }
  }
}

// True, or the program does not compile.
template <Misuse found, class F>
consteval bool is_sound() {
  static_assert(found != Misuse::no_function,
                "this is no function with parameters of known types: give a function, or an object "
                "with one operator(). A lambda names the types of its parameters, without auto");
  static_assert(
      found != Misuse::unknown_parameter,
      "a handler takes RequestView, Request, Path<T>, Query<T> of a described struct, "
      "Header<T>, Cookie<T> (http/handlers/head_fields.hpp), Json<T> (http/handlers/json.hpp), "
      "FormFields<T> "
      "(http/forms/form_fields.hpp), NestedQuery<T> (http/handlers/nested_query.hpp), "
      "NestedForm<T> "
      "(http/forms/nested_form.hpp), ContentReader, ReplyWriter, FromContext<T>, Inject<T>, or "
      "a type with a katana::FromRequest; the header of each has to be included");
  static_assert(found != Misuse::path,
                "middleware serves routes of several patterns: take a RequestView or Request, and "
                "ask its parameters() by name");
  static_assert(found != Misuse::stream,
                "streams are the handler's: middleware takes content as Json<T> or FormFields<T>, "
                "and answers with a Reply");
  static_assert(found != Misuse::always_answers,
                "what always answers is a handler: return std::optional<Reply>, and std::nullopt "
                "to go on");
  static_assert(found != Misuse::borrowed,
                "a coroutine cannot take a RequestView, which is borrowed: take a Request");
  static_assert(found != Misuse::reference,
                "a coroutine takes its parameters by value: what a reference names is gone after "
                "its first suspension");
  static_assert(found != Misuse::no_writer,
                "a Task<void> handler answers through a ReplyWriter: take one, or return a Task of "
                "a Reply");
  static_assert(
      found != Misuse::no_stream,
      "ContentReader and ReplyWriter are for coroutines that stream: return Task<void>, or "
      "take a ContentReader alone and return a Task of a reply");
  static_assert(found != Misuse::content_twice,
                "the content is either read as a whole (Json<T>, FormFields<T>) or in pieces "
                "(ContentReader)");
  static_assert(
      found != Misuse::no_reply,
      "a handler returns Reply, Json<T>, Created<T> (http/handlers/json.hpp), a Result or an "
      "Answer of one of them, a Task of that, or Task<void>");
  return found == Misuse::none;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
