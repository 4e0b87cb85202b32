package sinkhole

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/websocket"
)

// The ids of a guild (a Discord server) and of what is in it.
const (
	guildID   = "100000000000000001"
	channelID = "100000000000000002"
	forumID   = "100000000000000003"
	userID    = "100000000000000004"
	messageNo = "100000000000000005"
	groupID   = "100000000000000006"
	threadID  = "100000000000000007"
)

// ofDiscord reports whether a host belongs to Discord.
func ofDiscord(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	return slices.ContainsFunc([]string{"discord.com", "discordapp.com", "discord.gg"}, func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) })
}

// discord has one guild with a bot, a text channel, a category and a forum with a thread (discord.com/developers/docs).
func discord(r *http.Request, _ []byte) any {
	if !ofDiscord(r.Host) || r.Method == http.MethodDelete {
		return nil
	}
	if strings.HasSuffix(r.URL.Path, "/gateway") || strings.HasSuffix(r.URL.Path, "/gateway/bot") {
		return map[string]any{"url": "wss://gateway.discord.gg", "shards": 1,
			"session_start_limit": map[string]any{"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}}
	}
	things, last := discordThings(), path.Base(r.URL.Path)
	thing, of := things[last]
	switch {
	case of && last == "channels" && r.Method == http.MethodGet:
		return discordChannels()
	case of && r.Method == http.MethodGet:
		return []any{thing}
	case of: // that is made
		return thing
	}
	for _, each := range discordChannels() {
		if each["id"] == last {
			return each
		}
	}
	return things[path.Base(path.Dir(r.URL.Path))]
}

// discordChannels returns what is in the guild.
func discordChannels() (all []map[string]any) {
	for i, c := range []struct {
		id   string
		kind int
		name string
	}{{channelID, 0, "note"}, {forumID, 15, "forum"}, {groupID, 4, "group"}, {threadID, 11, "thread"}} {
		channel := map[string]any{"id": c.id, "type": c.kind, "name": c.name, "guild_id": guildID, "position": i, "permission_overwrites": []any{}, "available_tags": []any{}}
		if c.id == threadID {
			channel["parent_id"], channel["owner_id"], channel["message_count"] = forumID, userID, 1
			channel["thread_metadata"] = map[string]any{"archived": false, "auto_archive_duration": 60, "archive_timestamp": moment, "locked": false}
		}
		all = append(all, channel)
	}
	return all
}

// discordThings returns what the API knows, by the word for it in paths.
func discordThings() map[string]any {
	user := map[string]any{"id": userID, "username": "note", "discriminator": "0", "global_name": "note", "avatar": nil, "bot": true}
	role := map[string]any{"id": guildID, "name": "@everyone", "permissions": "8", "position": 0, "color": 0, "hoist": false, "managed": false, "mentionable": false}
	channels := discordChannels()
	member := map[string]any{"user": user, "roles": []any{}, "joined_at": moment, "deaf": false, "mute": false, "flags": 0}
	guild := map[string]any{
		"id": guildID, "name": "note", "owner_id": userID, "roles": []any{role}, "emojis": []any{}, "stickers": []any{}, "features": []any{},
		"channels": channels[:3], "members": []any{member}, "member_count": 1, "approximate_member_count": 1, "approximate_presence_count": 1,
		"presences": []any{}, "voice_states": []any{}, "threads": channels[3:], "stage_instances": []any{}, "guild_scheduled_events": []any{},
		"joined_at": moment, "large": false, "unavailable": false, "preferred_locale": "en-US", "verification_level": 0, "system_channel_id": channelID,
	}
	message := map[string]any{"id": messageNo, "channel_id": channelID, "type": 0, "content": "note", "timestamp": moment, "edited_timestamp": nil, "author": user,
		"attachments": []any{}, "embeds": []any{}, "mentions": []any{}, "mention_roles": []any{}, "mention_everyone": false, "pinned": false, "tts": false}
	return map[string]any{
		"guilds": guild, "channels": channels[0], "members": member, "users": user, "roles": role, "messages": message,
		"webhooks": map[string]any{"id": messageNo, "type": 1, "name": "note", "token": "note", "channel_id": channelID, "guild_id": guildID},
	}
}

// The operations of the gateway.
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opIdentify     = 2
	opHello        = 10
	opHeartbeatACK = 11
)

// event is a message of the gateway.
type event struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  int    `json:"s,omitempty"`
	Type string `json:"t,omitempty"`
}

// gateway serves the gateway of Discord, which speaks first; false for any other WebSocket.
func (t *conversation) gateway(socket *websocket.Conn, r *http.Request) bool {
	if !ofDiscord(r.Host) || !strings.HasPrefix(r.Host, "gateway") || !sendEvents(socket, event{Op: opHello, Data: map[string]any{"heartbeat_interval": 41250}}) {
		return false
	}
	for {
		message, err := t.receive(socket)
		if err != nil {
			return true
		}
		var asks event
		if json.Unmarshal(message, &asks) != nil || !sendEvents(socket, answerGateway(asks.Op)...) {
			return true
		}
	}
}

// answerGateway returns what follows a message of an operation.
func answerGateway(op int) []event {
	things := discordThings()
	switch op {
	case opHeartbeat:
		return []event{{Op: opHeartbeatACK}}
	case opIdentify:
		ready := map[string]any{
			"v": 10, "user": things["users"], "guilds": []any{map[string]any{"id": guildID, "unavailable": true}}, "session_id": "note",
			"resume_gateway_url": "wss://gateway.discord.gg", "application": map[string]any{"id": userID, "flags": 0},
		}
		return []event{{opDispatch, ready, 1, "READY"}, {opDispatch, things["guilds"], 2, "GUILD_CREATE"}}
	}
	return nil
}

// sendEvents reports whether all events were sent.
func sendEvents(socket *websocket.Conn, events ...event) bool {
	for _, each := range events {
		if websocket.JSON.Send(socket, each) != nil {
			return false
		}
	}
	return true
}
