#include "realworld.hpp"

#include "katana/auth.hpp"
#include "katana/base.hpp"
#include "katana/enveloped.hpp"
#include "katana/error_documents.hpp"
#include "katana/found.hpp"
#include "katana/http.hpp"
#include "katana/in_transaction.hpp"
#include "katana/optional_auth.hpp"
#include "katana/passwords.hpp"
#include "katana/slug.hpp"
#include "katana/token_issuer.hpp"
#include "migrations.hpp"  // made from migrations/ by the build

namespace realworld {

using database::found, database::not_taken, database::Queries, database::Sql, database::Transaction;
struct NewUser {
  std::string username, email, password;
};
KATANA_DESCRIBE(NewUser, (username, length(1, 60)), (email, format::email, length(3, 254)),
                (password, secret, length(8, 200)))
struct Credentials {
  std::string email, password;
};
KATANA_DESCRIBE(Credentials, email, (password, secret))
struct UserPatch {
  Patch<std::string> username, email, password, bio, image;
};
KATANA_DESCRIBE(UserPatch, (username, not_null, length(1, 60)),
                (email, not_null, format::email, length(3, 254)),
                (password, not_null, secret, length(8, 200)), bio, image)
// An account, as it is stored.
struct Account {
  std::int64_t id = 0;
  std::string username, email, password;
  std::optional<std::string> bio, image;
};
KATANA_DESCRIBE(Account, id, username, email, password, bio, image)
// The account, as its user sees it.
struct User {
  std::string email, token, username;
  std::optional<std::string> bio, image;
};
KATANA_DESCRIBE(User, email, token, username, bio, image)
struct Profile {
  std::string username;
  std::optional<std::string> bio, image;
  bool following = false;
};
KATANA_DESCRIBE(Profile, username, bio, image, following)
struct NewArticle {
  std::string title, description, body;
  std::vector<std::string> tags;
};
KATANA_DESCRIBE(NewArticle, (title, length(1, 200)), (description, length(1, 1000)),
                (body, length(1, 100'000)),
                (tags, named("tagList"), defaulted, length(0, 20), each(length(1, 40))))
struct ArticlePatch {
  Patch<std::string> title, description, body;
};
KATANA_DESCRIBE(ArticlePatch, (title, not_null, length(1, 200)),
                (description, not_null, length(1, 1000)), (body, not_null, length(1, 100'000)))
struct Article {
  std::string slug, title, description, body;
  std::vector<std::string> tags;
  Timestamp created_at, updated_at;
  bool favorited = false;
  std::int64_t favorites = 0;
  Profile author;
};
KATANA_DESCRIBE(Article, slug, title, description, body, (tags, named("tagList")),
                (created_at, named("createdAt")), (updated_at, named("updatedAt")), favorited,
                (favorites, named("favoritesCount")), author)
struct ArticlePage {
  std::vector<Article> articles;
  std::int64_t count = 0;
};
KATANA_DESCRIBE(ArticlePage, articles, (count, named("articlesCount")))
struct ArticleQuery {
  std::optional<std::string> tag = {}, author = {}, favorited = {};
  int limit = 20, offset = 0;
};
KATANA_DESCRIBE(ArticleQuery, tag, author, favorited, (limit, range(1, 100)), (offset, at_least(0)))
struct NewComment {
  std::string body;
};
KATANA_DESCRIBE(NewComment, (body, length(1, 10'000)))
struct Comment {
  std::int64_t id = 0;
  Timestamp created_at, updated_at;
  std::string body;
  Profile author;
};
KATANA_DESCRIBE(Comment, id, (created_at, named("createdAt")), (updated_at, named("updatedAt")),
                body, author)
// An article as it is stored, for a change.
struct StoredArticle {
  std::int64_t id = 0, author_id = 0;
  std::string slug, title, description, body;
};
KATANA_DESCRIBE(StoredArticle, id, author_id, slug, title, description, body)
// The user who asks; 0: a client without a token, where the route allows it.
struct Viewer {
  std::int64_t id = 0;
};
namespace {

using ArticleBody = Enveloped<"article", Article>;
using CommentBody = Enveloped<"comment", Comment>;
using ProfileBody = Enveloped<"profile", Profile>;
template <class T>
using Later = Task<Answer<T>>;
using Db = Inject<database::Database>;
using Hasher = Inject<passwords::PasswordHasher>;
using Tokens = Inject<auth::TokenIssuer>;
using Name = Path<std::string>;
using Who = FromContext<Viewer>;

Result<Reply> user_reply(const Account& user, Tokens tokens, unsigned status = 200) {
  KATANA_TRY(auto issued, tokens->issue({.id = std::to_string(user.id)}));
  const User seen{user.email, std::move(issued.token), user.username, user.bio, user.image};
  return json_reply(Enveloped<"user", User>{seen}, status);
}

Later<Reply> sign_up(Json<Enveloped<"user", NewUser>> given, Db db, Hasher hasher, Tokens tokens) {
  const NewUser& user = **given;
  KATANA_CO_TRY(const std::string hash, co_await hasher->hash(SecretText(user.password)));
  KATANA_CO_TRY(const auto made,
                not_taken(co_await db->query_one<Account>(
                    "INSERT INTO users (username, email, password) VALUES ($1, $2, $3) "
                    "RETURNING id, username, email, password, bio, image",
                    user.username, user.email, hash)));
  co_return user_reply(*made, tokens, 201);
}

#define SELECT_ACCOUNT "SELECT id, username, email, password, bio, image FROM users "

Later<Reply> log_in(Json<Enveloped<"user", Credentials>> given, Db db, Hasher hasher,
                    Tokens tokens) {
  const Credentials& user = **given;
  KATANA_CO_TRY(const auto row,
                co_await db->query_one<Account>(SELECT_ACCOUNT "WHERE email = $1", user.email));
  std::optional<std::string> stored;  // without a user, verify() takes as long
  if (row) stored = row->password;
  KATANA_CO_TRY(const auto verdict, co_await hasher->verify(stored, SecretText(user.password)));
  if (!verdict.right) co_return unauthenticated("Token", "email or password is invalid");
  co_return user_reply(*row, tokens);
}

Later<Reply> current_user(Who viewer, Db db, Tokens tokens) {
  KATANA_CO_TRY(
      const Account user,
      found(co_await db->query_one<Account>(SELECT_ACCOUNT "WHERE id = $1", viewer->id), "user"));
  co_return user_reply(user, tokens);
}

Later<Reply> change_user(Who viewer, Json<Enveloped<"user", UserPatch>> patch, Db db, Hasher hasher,
                         Tokens tokens) {
  if ((*patch)->password.has_value()) {
    SecretText password(*(*patch)->password);
    KATANA_CO_TRY((*patch)->password, co_await hasher->hash(std::move(password)));
  }
  auto change = [&](Transaction& within) -> Later<Reply> {
    KATANA_CO_TRY(Account user, found(co_await within.query_one<Account>(
                                          SELECT_ACCOUNT "WHERE id = $1", viewer->id),
                                      "user"));
    apply_patch(**patch, user);
    KATANA_CO_TRY_DONE(not_taken(co_await within.execute(
        "UPDATE users SET username = $2, email = $3, password = $4, bio = $5, image = $6 "
        "WHERE id = $1",
        user)));
    co_return user_reply(user, tokens);
  };
  co_return co_await database::transact(*db, change);
}

Later<Json<ProfileBody>> profile(Name name, Who viewer, Db db) {
  auto row = co_await db->query_one<Profile>(
      "SELECT username, bio, image, EXISTS (SELECT 1 FROM follows WHERE follower_id = $1 "
      "AND followed_id = users.id) AS following FROM users WHERE username = $2",
      viewer->id, *name);
  KATANA_CO_TRY(Profile profile, found(std::move(row), "profile"));
  co_return Json(ProfileBody{std::move(profile)});
}

Later<Json<ProfileBody>> follow(Name name, Who viewer, Db db) {
  KATANA_CO_TRY_DONE(co_await db->execute(
      "INSERT INTO follows (follower_id, followed_id) SELECT $1, id FROM users "
      "WHERE username = $2 ON CONFLICT DO NOTHING",
      viewer->id, *name));
  co_return co_await profile(std::move(name), std::move(viewer), std::move(db));
}

Later<Json<ProfileBody>> unfollow(Name name, Who viewer, Db db) {
  KATANA_CO_TRY_DONE(
      co_await db->execute("DELETE FROM follows WHERE follower_id = $1 "
                           "AND followed_id = (SELECT id FROM users WHERE username = $2)",
                           viewer->id, *name));
  co_return co_await profile(std::move(name), std::move(viewer), std::move(db));
}

// One that no other article has; "feed" is another path. The transaction keeps it free.
Later<std::string> free_slug(const Transaction& within, std::string title, std::int64_t id) {
  std::string slug = slug_of(title);
  if (slug.empty()) slug = "article";
  KATANA_CO_TRY(const auto others,
                co_await within.query_one<int>(
                    "SELECT count(*) FROM articles WHERE slug = $1 AND id <> $2", slug, id));
  if (*others != 0 || slug == "feed") slug += "-" + encode_base64url(random_octets(6));
  co_return slug;
}

// Returns the article. `owner`: the user that has to be its author; 0: any user.
Later<StoredArticle> stored(const Queries& db, std::string slug, std::int64_t owner = 0) {
  auto row = co_await db.query_one<StoredArticle>(
      "SELECT id, author_id, slug, title, description, body FROM articles WHERE slug = $1", slug);
  KATANA_CO_TRY(StoredArticle article, found(std::move(row), "article"));
  if (owner == 0 || owner == article.author_id) co_return article;
  co_return fail(Code::permission_denied, "The article is somebody else's.");
}

// The author, as $1 sees him or her.
#define SEEN_AUTHOR                                                                      \
  "json_object('username', username, 'bio', bio, 'image', image, 'following', json(iif(" \
  "EXISTS (SELECT 1 FROM follows WHERE follower_id = $1 AND followed_id = author_id), "  \
  "'true', 'false'))) AS author "

// $1 sees the articles $2, the newest first.
constexpr Sql seen_articles = R"(
    SELECT slug, title, description, body, created_at AS "createdAt", updated_at AS "updatedAt",
      (SELECT json_group_array(tag) FROM (SELECT tag FROM tags WHERE article_id = articles.id
        ORDER BY tag)) AS "tagList",
      EXISTS (SELECT 1 FROM favorites WHERE article_id = articles.id AND user_id = $1) AS favorited,
      (SELECT count(*) FROM favorites WHERE article_id = articles.id) AS "favoritesCount",
      )" SEEN_AUTHOR R"(
    FROM articles JOIN users ON users.id = author_id
    WHERE articles.id IN (SELECT value FROM json_each($2))
    ORDER BY created_at DESC, articles.id DESC)";

Later<Json<ArticleBody>> shown(const Queries& db, Viewer viewer, std::string slug,
                               unsigned status = 200) {
  KATANA_CO_TRY(const auto ids,
                co_await db.query<std::int64_t>("SELECT id FROM articles WHERE slug = $1", slug));
  KATANA_CO_TRY(Article article,
                found(co_await db.query_one<Article>(seen_articles, viewer.id, ids), "article"));
  co_return Json(ArticleBody{std::move(article)}, status);
}

// The number of articles that fit, and those of the page. $4: only by authors whom $5 follows.
constexpr Sql fitting_articles = R"(
    /* katana: full scan is fine */ WITH fitting AS (
      SELECT articles.id, created_at FROM articles JOIN users ON users.id = author_id
      WHERE ($1 IS NULL OR articles.id IN (SELECT article_id FROM tags WHERE tag = $1))
        AND ($2 IS NULL OR username = $2)
        AND ($3 IS NULL OR articles.id IN (SELECT article_id FROM favorites
          JOIN users AS fans ON fans.id = user_id WHERE fans.username = $3))
        AND ($4 = 0 OR author_id IN (SELECT followed_id FROM follows WHERE follower_id = $5)))
    SELECT (SELECT count(*) FROM fitting) AS count, (SELECT json_group_array(id) FROM
      (SELECT id FROM fitting ORDER BY created_at DESC, id DESC LIMIT $6 OFFSET $7)) AS ids)";

template <bool is_feed>
Later<Json<ArticlePage>> page(Query<ArticleQuery> query, Who viewer, Db db) {
  using Fitting = std::tuple<std::int64_t, std::vector<std::int64_t>>;
  auto row =
      co_await db->query_one<Fitting>(fitting_articles, query->tag, query->author, query->favorited,
                                      is_feed, viewer->id, query->limit, query->offset);
  KATANA_CO_TRY(const Fitting fitting, found(std::move(row), "page"));
  const auto& ids = std::get<1>(fitting);
  KATANA_CO_TRY(auto articles, co_await db->query<Article>(seen_articles, viewer->id, ids));
  co_return Json(ArticlePage{std::move(articles), std::get<0>(fitting)});
}

Later<Json<ArticleBody>> article(Name slug, Who viewer, Db db) {
  return shown(*db, *viewer, *slug);
}

Later<Json<ArticleBody>> add(Transaction& within, Json<Enveloped<"article", NewArticle>> given,
                             Who viewer) {
  const NewArticle& article = **given;
  KATANA_CO_TRY(const std::string slug, co_await free_slug(within, article.title, 0));
  KATANA_CO_TRY_DONE(co_await within.execute(
      "INSERT INTO articles (author_id, slug, title, description, body, created_at, updated_at) "
      "VALUES ($1, $2, $3, $4, $5, $6, $6)",
      viewer->id, slug, article.title, article.description, article.body, current_time()));
  KATANA_CO_TRY_DONE(co_await within.execute(
      "INSERT INTO tags (tag, article_id) SELECT DISTINCT value, articles.id "
      "FROM json_each($2), articles WHERE slug = $1",
      slug, article.tags));
  co_return co_await shown(within, *viewer, slug, 201);
}

Later<Json<ArticleBody>> change(Transaction& within, Name slug,
                                Json<Enveloped<"article", ArticlePatch>> patch, Who viewer) {
  KATANA_CO_TRY(StoredArticle article, co_await stored(within, *slug, viewer->id));
  const std::string title = article.title;
  apply_patch(**patch, article);
  if (article.title != title) {
    KATANA_CO_TRY(article.slug, co_await free_slug(within, article.title, article.id));
  }
  KATANA_CO_TRY_DONE(co_await within.execute(
      "UPDATE articles SET slug = $3, title = $4, description = $5, body = $6, updated_at = $7 "
      "WHERE id = $1 AND author_id = $2",
      article, current_time()));
  co_return co_await shown(within, *viewer, article.slug);
}

Later<Reply> remove(Name slug, Who viewer, Db db) {
  KATANA_CO_TRY(const StoredArticle article, co_await stored(*db, *slug, viewer->id));
  KATANA_CO_TRY_DONE(co_await db->execute("DELETE FROM articles WHERE id = $1", article.id));
  co_return Reply::no_content();
}

Later<Json<ArticleBody>> favorite(Name slug, Who viewer, Db db) {
  KATANA_CO_TRY_DONE(co_await db->execute(
      "INSERT INTO favorites (user_id, article_id) SELECT $1, id FROM articles "
      "WHERE slug = $2 ON CONFLICT DO NOTHING",
      viewer->id, *slug));
  co_return co_await shown(*db, *viewer, *slug);
}

Later<Json<ArticleBody>> unfavorite(Name slug, Who viewer, Db db) {
  KATANA_CO_TRY_DONE(
      co_await db->execute("DELETE FROM favorites WHERE user_id = $1 "
                           "AND article_id = (SELECT id FROM articles WHERE slug = $2)",
                           viewer->id, *slug));
  co_return co_await shown(*db, *viewer, *slug);
}

// $1 sees the comments of article $2, or the one that is $3.
constexpr Sql seen_comments = R"(
    SELECT comments.id, created_at AS "createdAt", created_at AS "updatedAt", body,
      )" SEEN_AUTHOR R"(
    FROM comments JOIN users ON users.id = author_id
    WHERE article_id = $2 AND comments.id = coalesce($3, comments.id) ORDER BY comments.id)";

Later<Json<Enveloped<"comments", std::vector<Comment>>>> comments(Name slug, Who viewer, Db db) {
  KATANA_CO_TRY(const StoredArticle article, co_await stored(*db, *slug));
  KATANA_CO_TRY(auto rows,
                co_await db->query<Comment>(seen_comments, viewer->id, article.id, nullptr));
  co_return Json(Enveloped<"comments", std::vector<Comment>>{std::move(rows)});
}

Later<Json<CommentBody>> comment(Name slug, Json<Enveloped<"comment", NewComment>> given,
                                 Who viewer, Db db) {
  KATANA_CO_TRY(const StoredArticle article, co_await stored(*db, *slug));
  KATANA_CO_TRY(
      const auto id,
      co_await db->query_one<std::int64_t>(
          "INSERT INTO comments (article_id, author_id, body, created_at) VALUES ($1, $2, $3, $4) "
          "RETURNING id",
          article.id, viewer->id, (*given)->body, current_time()));
  auto row = co_await db->query_one<Comment>(seen_comments, viewer->id, article.id, *id);
  KATANA_CO_TRY(Comment comment, found(std::move(row), "comment"));
  co_return Json(CommentBody{std::move(comment)}, 201);
}

Later<Reply> remove_comment(Name slug, Path<std::int64_t> id, Who viewer, Db db) {
  KATANA_CO_TRY(const StoredArticle article, co_await stored(*db, *slug));
  auto row = co_await db->query_one<std::int64_t>(
      "SELECT author_id FROM comments WHERE id = $1 AND article_id = $2", *id, article.id);
  KATANA_CO_TRY(const auto author, found(std::move(row), "comment"));
  if (author != viewer->id) co_return problem(403, "The comment is somebody else's.");
  KATANA_CO_TRY_DONE(co_await db->execute("DELETE FROM comments WHERE id = $1", *id));
  co_return Reply::no_content();
}

Later<Json<Enveloped<"tags", std::vector<std::string>>>> tags(Db db) {
  // katana: full scan is fine
  KATANA_CO_TRY(auto all,
                co_await db->query<std::string>("SELECT DISTINCT tag FROM tags ORDER BY 1"));
  co_return Json(Enveloped<"tags", std::vector<std::string>>{std::move(all)});
}

// {"errors":{"body":[…]}}, with each member that is wrong; 422 also for a value that is taken.
std::optional<Reply> errors_in_body(const ProblemView& problem, const RequestView&) {
  std::vector<std::string> texts;
  for (const auto& [pointer, detail] : problem.findings) texts.push_back(pointer + " " + detail);
  if (texts.empty()) texts.emplace_back(problem.detail);
  return json_reply(Enveloped<"errors", Enveloped<"body", std::vector<std::string>>>{{texts}},
                    problem.status == 409 ? 422 : problem.status);
}

// The subject of a token of ours is the id of a user.
Viewer anybody(FromContext<std::optional<auth::Principal>> who) {
  return {*who ? std::stoll((*who)->id()) : 0};
}

// A token outlives a user who is deleted.
Later<Viewer> user(FromContext<auth::Principal> who, Db db) {
  const std::int64_t id = std::stoll(who->id());
  KATANA_CO_TRY(const auto row,
                co_await db->query_one<std::int64_t>("SELECT id FROM users WHERE id = $1", id));
  if (!row) co_return std::unexpected(unauthenticated("Token", "The user is gone."));
  co_return Viewer{id};
}

Result<void> add_routes(const registry::Services& services, Router& router) {
  const auth::Authentication token = services.get<auth::TokenIssuer>().bearer();
  const std::vector<std::string> fields = {"Authorization", "Content-Type"};
  KATANA_TRY(auto pages, cors({.origins = {"*"}, .request_fields = fields}));
  router.deny_by_default().use(std::move(pages));
  router.error_documents(errors_in_body);
  Group anonymous = router.group("/api").anonymous();
  anonymous.post("/users", sign_up).post("/users/login", log_in).get("/tags", tags);
  Group open = router.group("/api").anonymous();
  open.use(auth::optional(token)).use(anybody);
  open.get("/profiles/{name}", profile)
      .get("/articles", page<false>)
      .get("/articles/{slug}", article);
  open.get("/articles/{slug}/comments", comments);
  Group closed = router.group("/api");
  closed.use(token).use(auth::require(auth::authenticated())).use(user);
  closed.get("/user", current_user).put("/user", change_user);
  closed.post("/profiles/{name}/follow", follow).delete_("/profiles/{name}/follow", unfollow);
  closed.get("/articles/feed", page<true>).post("/articles", app::in_transaction(add));
  Group one = closed.group("/articles/{slug}");
  one.put("", app::in_transaction(change)).delete_("", remove);
  one.post("/favorite", favorite).delete_("/favorite", unfavorite);
  one.post("/comments", comment).delete_("/comments/{id}", remove_comment);
  return {};
}

}  // namespace

app::ApplicationOptions options() {
  return {.name = "realworld", .database = app::sqlite(), .migrations = embedded::migrations()};
}

void configure(Program& app) {
  app.services([](registry::Registry& registry) {
    using passwords::PasswordHasher;
    registry.singleton<PasswordHasher>([] { return PasswordHasher::make({}); });
    registry.singleton<auth::TokenIssuer>([](config::Config<Settings>& config) {
      const auth::TokenIssuerOptions options{.secret = config.get()->token_key,
                                             .issuer = "realworld",
                                             .lifetime = seconds(24 * 3600),
                                             .scheme = "Token"};
      return auth::TokenIssuer::make(options);
    });
  });
  app.routes(add_routes);
}

}  // namespace realworld

// SPDX-License-Identifier: Apache-2.0
